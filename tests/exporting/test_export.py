"""Every format on a real encoder: loaded again, the vectors are those of the original, or as near as it says."""

from __future__ import annotations

import importlib.util
import json
import signal
from pathlib import Path

import numpy as np
import pytest
from sentence_transformers import SentenceTransformer

import isotrope
from isotrope.encoders.loading import load_any
from isotrope.exporting import EXPORTS
from isotrope.exporting.dimensions import cut
from isotrope.io.errors import IsotropeError
from isotrope.text import bundled_sentences

TEXT = bundled_sentences()[:100]
SENTENCES = [
    "A dog.",
    "Rain fell all night on the roof of the old house.",
    "No.",
    "A cat sleeps " + "very " * 40 + "long.",
]
GRAPHS = [name for name in ("openvino", "onnx") if importlib.util.find_spec({"onnx": "onnxruntime"}.get(name, name))]


@pytest.fixture(scope="module")
def encoder() -> isotrope.Encoder:
    return isotrope.load("bundled", device="cpu")


@pytest.mark.parametrize("kind", GRAPHS)
def test_a_graph_gives_the_vectors_of_the_encoder_packed_and_padded(
    kind: str, encoder: isotrope.Encoder, tmp_path: Path
) -> None:
    body = encoder.with_pooling("last2")  # two layers are mixed inside the graph
    made = isotrope.export(body, kind, tmp_path / "m", text=TEXT[:40])
    assert made.parity.cosine == pytest.approx(1, abs=1e-5)
    loaded = isotrope.load(made.path)
    for packing in (True, False):
        loaded.packing = packing
        assert np.abs(loaded.encode(SENTENCES) - body.encode(SENTENCES)).max() < 1e-5
    assert loaded.max_seq_length == body.max_seq_length
    for recipe in ("simcse", "smooth"):
        with pytest.raises(IsotropeError, match="an exported encoder can't be tuned"):
            isotrope.train(TEXT[:40], recipe, loaded, output=tmp_path / "run", seed=1)
    with pytest.raises(IsotropeError, match="gives only its last layer"):
        loaded.with_pooling("first-last").encode("A dog.")
    with pytest.raises(IsotropeError, match="keeps the precision it was exported with; leave out precision="):
        isotrope.load(made.path, precision="bfloat16")
    check_damage(made.path)


@pytest.mark.parametrize("kind", GRAPHS)
def test_int8_is_near_and_small_and_reports_it(kind: str, encoder: isotrope.Encoder, tmp_path: Path) -> None:
    made = isotrope.export(encoder, kind, tmp_path / "m", int8=True, dim=64, text=TEXT)
    told = json.loads((made.path / "export.json").read_text())
    assert told["parity"]["bytes"] < 0.4 * told["parity"]["bytes_before"]
    assert (made.dim, told["dim"], told["int8"]) == (64, 64, True)
    shorter, _ = cut(encoder, 64, sorted(TEXT))
    one, other = (model.encode(SENTENCES, normalize_embeddings=True) for model in (shorter, isotrope.load(made.path)))
    assert np.abs(one @ one.T - other @ other.T).max() < 0.05  # directions may come with the other sign
    assert "Spearman x 100 on 220 pairs of bundled" in (made.path / "README.md").read_text()


def test_a_static_encoder_is_a_plain_folder(encoder: isotrope.Encoder, tmp_path: Path) -> None:
    made = isotrope.export(encoder, "static", tmp_path / "m", dim=32, text=TEXT)
    plain = SentenceTransformer(str(made.path), device="cpu")
    vectors = plain.encode(SENTENCES)
    assert vectors.shape == (4, 32)
    assert np.abs(isotrope.encode(SENTENCES, made.path) - vectors).max() < 1e-6
    token = {text: plain.encode(text, normalize_embeddings=False) for text in ("the", "dog")}
    assert token["dog"] @ plain.encode("the dog") > token["the"] @ plain.encode("the dog")  # frequent words count less
    check_damage(made.path)


def check_damage(folder: Path) -> None:
    """One flipped bit in any file is one line; the card is there to be edited."""
    for file in (path for path in sorted(folder.rglob("*")) if path.is_file() and path.name != "README.md"):
        whole = file.read_bytes()
        file.write_bytes(whole[:-9] + bytes([whole[-9] ^ 1]) + whole[-8:])
        with pytest.raises(IsotropeError, match=rf"{file.name} is (not the file that was saved|damaged)|is missing"):
            load_any(folder)
        file.write_bytes(whole)
    for text in ("{", "5"):
        (folder / "export.json").write_text(text)
        with pytest.raises(IsotropeError, match=r"export.json is damaged \("):
            load_any(folder)


def test_shorter_vectors_load_with_sentence_transformers(encoder: isotrope.Encoder, tmp_path: Path) -> None:
    made = isotrope.export(encoder, "torch", tmp_path / "m", dim=64, text=TEXT)
    vectors = SentenceTransformer(str(made.path), device="cpu").encode(SENTENCES)
    assert np.abs(vectors - isotrope.load(made.path).encode(SENTENCES)).max() < 1e-5
    turned, whole = isotrope.load(made.path).encode(TEXT), encoder.encode(TEXT)
    assert (turned**2).sum() > (whole[:, :64] ** 2).sum()  # the principal directions hold more than any others
    assert (turned**2).sum() > 0.95 * (whole**2).sum()


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("onxx", {}, r"unknown kind 'onxx' \(did you mean 'onnx'\?\)"),
        ("torch", {"int8": True}, "this format has no int8; choose onnx or openvino"),
        ("torch", {"dim": 64}, "was not trained with Matryoshka.*give it with text="),
        ("torch", {"dim": 256, "text": TEXT}, "dim= 256: the encoder's vectors have 256 numbers; choose 1 to 255"),
        ("torch", {"dim": 64, "text": TEXT[:9]}, "dim= 64: 9 texts are too few"),
        ("static", {"pairs": "nix"}, "nix"),
    ],
)
def test_what_cant_be_exported_is_said(kind: str, options: dict[str, object], message: str, tmp_path: Path) -> None:
    with pytest.raises(IsotropeError, match=message):
        isotrope.export("bundled", kind, tmp_path / "m", **options)
    assert not list(tmp_path.iterdir())


def test_formats_are_found() -> None:
    assert set(EXPORTS.kinds) == {"onnx", "openvino", "static", "torch"}


@pytest.mark.skipif("openvino" not in GRAPHS, reason="openvino is not installed")
def test_a_signal_while_openvino_converts_ends_the_export(
    encoder: isotrope.Encoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of an exception that passes through it, openvino makes a failed conversion."""
    import openvino

    convert = openvino.convert_model

    def signalled(*arguments: object, **options: object) -> object:
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise RuntimeError("OpConversionFailure") from None
        return convert(*arguments, **options)

    monkeypatch.setattr(openvino, "convert_model", signalled)
    with pytest.raises(KeyboardInterrupt):
        isotrope.export(encoder, "openvino", tmp_path / "m", text=TEXT[:40])
    assert not list(tmp_path.iterdir())
