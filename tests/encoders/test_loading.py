"""Folders and names in, encoders out, and back to folders."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.modules import Dense
from sentence_transformers.sentence_transformer.modules import BoW
from sentence_transformers.sentence_transformer.modules import Pooling as TokenPooling

import isotrope
from isotrope.baselines.wk import wk_pooled
from isotrope.encoders.loading import BUNDLED, load, load_any, minilm_folder
from isotrope.io.checksums import SUMS
from isotrope.io.errors import IsotropeError

TEXTS = ["A cat sat.", "Dogs bark loudly at night in the old town near the river.", "Hello!", "What is the time?"] * 3
WITHOUT_ISOTROPE = """
import sys
sys.modules["isotrope"] = None  # any import of it fails
import numpy, json
from sentence_transformers import SentenceTransformer
numpy.save(sys.argv[2], SentenceTransformer(sys.argv[1], device="cpu").encode(json.loads(sys.argv[3])))
"""


@pytest.mark.parametrize(
    "pooling", ["mean", "cls", "max", "last2", "first-last", "cls-mlp", "mean@2", "cls@0", "max@1", "last2@2"]
)
def test_saved_and_loaded_again(pooling: str, tmp_path: Path) -> None:
    encoder = load(pooling=pooling)
    folder = encoder.save(tmp_path / "encoder")
    vectors = encoder.encode(TEXTS)
    assert np.abs(load(folder).encode(TEXTS) - vectors).max() <= 1e-6
    assert np.abs(SentenceTransformer(str(folder), device="cpu").encode(TEXTS) - vectors).max() <= 1e-5
    assert load(folder).pooling.mode == encoder.pooling.mode


def test_loads_in_a_process_without_isotrope(tmp_path: Path) -> None:
    encoder = load(pooling="last2")
    folder = encoder.save(tmp_path / "encoder")
    output = tmp_path / "vectors.npy"
    arguments = [sys.executable, "-c", WITHOUT_ISOTROPE, str(folder), str(output), json.dumps(TEXTS)]
    subprocess.run(arguments, check=True, capture_output=True)
    assert np.abs(np.load(output) - encoder.encode(TEXTS)).max() <= 1e-5


def test_the_card_is_a_hub_card(tmp_path: Path) -> None:
    card = (load(pooling="cls").save(tmp_path / "e", card="Tuned on nothing.") / "README.md").read_text()
    assert card.startswith("---\nlibrary_name: sentence-transformers\n")
    assert "Tuned on nothing." in card
    assert "256" in card


def test_saving_never_overwrites_unasked_and_leaves_no_half(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = load()
    folder = encoder.save(tmp_path / "e")
    with pytest.raises(IsotropeError, match="exists already"):
        encoder.save(folder)
    encoder.save(folder, force=True)

    def full_disk(*args: object, **kwargs: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(SentenceTransformer, "save", full_disk)
    with pytest.raises(IsotropeError, match=r"e: can't be written \(No space left on device\)"):
        encoder.save(folder, force=True)
    assert [path.name for path in tmp_path.iterdir()] == ["e"]
    assert load(folder).dim == 256


def test_sentence_transformers_folder_keeps_its_modules(tmp_path: Path) -> None:
    """Pooling of two kinds side by side, a dense layer, a prompt: all kept, all the same vectors."""
    torch.manual_seed(0)
    transformer = SentenceTransformer(str(BUNDLED), device="cpu", model_kwargs={"dtype": torch.float32})[0]
    dense = Dense(512, 32, activation_function=torch.nn.ReLU())
    modules = [transformer, TokenPooling(256, ("cls", "mean")), dense]
    original = SentenceTransformer(modules=modules, prompts={"query": "find: "}, default_prompt_name="query")
    original.save(str(tmp_path / "st"))
    encoder = load(tmp_path / "st")
    assert encoder.dim == 32
    assert np.abs(encoder.encode(TEXTS) - original.encode(TEXTS)).max() <= 1e-5
    assert np.abs(encoder.encode(TEXTS, prompt="") - original.encode(TEXTS, prompt="")).max() <= 1e-5
    encoder.save(tmp_path / "again")
    assert np.abs(load(tmp_path / "again").encode(TEXTS) - original.encode(TEXTS)).max() <= 1e-5


@pytest.mark.parametrize("kind", ["Bert", "Roberta", "DistilBert", "MPNet", "Electra", "MobileBert", "XLMRoberta"])
def test_bare_transformers_folders(kind: str, tmp_path: Path) -> None:
    """A folder such as the Hub has them: config, weights, tokenizer; nothing of sentence-transformers."""
    torch.manual_seed(0)
    sizes = {"vocab_size": 8192, "num_hidden_layers": 2, "max_position_embeddings": 130, "pad_token_id": 0}
    widths = {"hidden_size": 32, "num_attention_heads": 4, "intermediate_size": 64}
    if kind == "DistilBert":
        sizes, widths = sizes | {"n_layers": 2}, {"dim": 32, "n_heads": 4, "hidden_dim": 64}
    if kind == "MobileBert":
        widths |= {"embedding_size": 16, "intra_bottleneck_size": 16, "true_hidden_size": 16}
    model = getattr(transformers, f"{kind}Model")(getattr(transformers, f"{kind}Config")(**sizes, **widths))
    model.save_pretrained(tmp_path / "hf")
    transformers.AutoTokenizer.from_pretrained(BUNDLED).save_pretrained(tmp_path / "hf")
    encoder = load(tmp_path / "hf")
    assert str(encoder.pooling) == "mean"
    assert encoder.packing == (kind != "MobileBert")
    peer = SentenceTransformer(str(tmp_path / "hf"), device="cpu")
    assert np.abs(encoder.encode(TEXTS) - peer.encode(TEXTS)).max() <= 1e-5
    encoder.with_pooling("cls@1").save(tmp_path / "saved")
    again = SentenceTransformer(str(tmp_path / "saved"), device="cpu")
    assert np.abs(again.encode(TEXTS) - encoder.with_pooling("cls@1").encode(TEXTS)).max() <= 1e-5


def test_a_pooler_that_transformers_made_up_is_not_kept() -> None:
    assert load().backbone.model.pooler is None


def test_models_in_memory_are_models_too(tmp_path: Path) -> None:
    encoder = load()
    assert load(encoder) is load_any(encoder) is encoder
    assert load(encoder, pooling="cls").backbone is encoder.backbone
    peer = SentenceTransformer(str(encoder.save(tmp_path / "encoder")), device="cpu")
    assert isinstance(load(peer), isotrope.Encoder)
    assert np.abs(load(peer).encode(TEXTS) - encoder.encode(TEXTS)).max() <= 1e-6
    counts = SentenceTransformer(modules=[BoW(["cat", "dog"])])
    plain = load_any(counts)
    assert load_any(plain) is plain
    assert plain.encode("A cat.").tolist() == [1, 0]
    for unfit in (counts, plain):
        with pytest.raises(IsotropeError, match="begins with a BoW module; isotrope needs a text transformer"):
            load(unfit)


@pytest.mark.parametrize("place", ["isotrope.encoders.modules.wk", "isotrope.postprocess.wk", "isotrope.baselines.wk"])
def test_own_modules_of_this_and_earlier_versions(place: str, tmp_path: Path) -> None:
    folder = wk_pooled(load()).save(tmp_path / "wk")
    file = folder / "modules.json"
    file.write_text(file.read_text().replace("isotrope.encoders.modules.wk", place))
    assert place in file.read_text()
    (folder / SUMS).unlink()
    assert np.isfinite(load_any(folder).encode(TEXTS)).all()


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        (
            "isotrope.encoders.modules.new.Newer",
            "names the module isotrope.encoders.modules.new.Newer, which this version",
        ),
        ("own_code.Pooling", "it brings code of its own .own_code.Pooling., which is not run"),
    ],
)
@pytest.mark.parametrize("beside_own", [True, False])
def test_code_of_a_folder_is_never_run(reference: str, message: str, beside_own: bool, tmp_path: Path) -> None:
    folder = (wk_pooled(load()) if beside_own else load()).save(tmp_path / "model")
    (folder / "own_code.py").write_text("raise SystemExit('foreign code was run')")
    entries = json.loads((folder / "modules.json").read_text())
    (folder / SUMS).unlink()
    (folder / "modules.json").write_text(json.dumps([*entries, {"idx": 9, "name": "9", "path": "", "type": reference}]))
    with pytest.raises(IsotropeError, match=message):
        load_any(folder)


def test_minilm_is_the_published_one(minilm: isotrope.Encoder) -> None:
    assert minilm.dim == 384
    assert np.allclose(np.linalg.norm(minilm.encode(TEXTS), axis=1), 1, atol=1e-5)


def test_a_changed_minilm_is_refused(minilm: isotrope.Encoder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("isotrope.encoders.loading.MINILM_SHA256", "0" * 64)
    with pytest.raises(IsotropeError, match="SHA-256 differs"):
        minilm_folder()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("no-such-org/no-such-model", "available offline: bundled"),
        ("bundle", "did you mean 'bundled'"),
    ],
)
def test_unknown_names_without_a_network(name: str, words: str) -> None:
    with pytest.raises(IsotropeError, match=words) as error:
        load(name)
    assert "\n" not in str(error.value)


def test_folders_and_files_that_are_no_models(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(IsotropeError, match="is not a model folder"):
        load(tmp_path)
    with pytest.raises(IsotropeError, match="is a file"):
        load(tmp_path / "file")
    (tmp_path / "config.json").write_text("{not json")
    with pytest.raises(IsotropeError, match="could not be loaded") as error:
        load(tmp_path)
    assert "\n" not in str(error.value)


def test_the_folder_of_a_run_is_the_encoder_that_it_made(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text("{}")
    with pytest.raises(IsotropeError, match="this run has no encoder yet; resume it until it is finished"):
        load(tmp_path)
    load().save(tmp_path / "encoder")
    np.testing.assert_array_equal(load(tmp_path).encode(TEXTS[:2]), load().encode(TEXTS[:2]))
