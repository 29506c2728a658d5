from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from datasets import Dataset
from pyarrow import parquet
from sentence_transformers import SentenceTransformer

import isotrope
from isotrope.encoders import encode
from isotrope.encoders.encoding import _with_vectors
from isotrope.io.errors import IsotropeError

SENTENCES = ["A dog barks.", "A cat sleeps.", "Rain fell all night."]


@pytest.fixture(scope="module")
def encoder() -> isotrope.Encoder:
    return isotrope.load(device="cpu")


def test_text_without_end_is_taken_lot_by_lot(encoder: isotrope.Encoder) -> None:
    taken = count()

    def endless() -> Iterator[str]:
        for number in taken:
            yield f"Sentence {number}."

    texts, vectors = next(_with_vectors(encoder, endless(), 2, False))
    assert len(texts) == len(vectors) == next(taken) == 128  # and not one sentence more


def test_vectors_of_whatever_text_comes_in(
    encoder: isotrope.Encoder, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    wanted = encoder.encode(SENTENCES)
    file = tmp_path / "x.txt"
    file.write_text("\n".join(SENTENCES))
    frame = pd.DataFrame({"id": [1, 2, 3], "said": SENTENCES})
    for source, column in (
        (SENTENCES, None),
        ((text for text in SENTENCES), None),
        (file, None),
        (str(file), None),
        (frame, "said"),
        (frame["said"], None),
        (Dataset.from_pandas(frame), "said"),
    ):
        found = encode(source, encoder, column=column)
        assert found.dtype == np.float32
        assert np.abs(found - wanted).max() < 1e-5
    assert not caplog.messages
    assert encode([*SENTENCES, None, " "], encoder).shape == (3, 256)
    assert caplog.messages == ["2 texts are blank or missing and have no vector; 3 have one"]


def test_models_of_all_kinds(encoder: isotrope.Encoder, tmp_path: Path) -> None:
    encoder.save(tmp_path / "model")
    wanted = encoder.encode(SENTENCES)
    for model in (encoder, "bundled", tmp_path / "model", SentenceTransformer(str(tmp_path / "model"), device="cpu")):
        assert np.abs(encode(SENTENCES, model) - wanted).max() < 1e-5
    cls = encode(SENTENCES, encoder, pooling="cls", normalize=True)
    assert np.abs(cls - isotrope.load(pooling="cls").encode(SENTENCES, normalize_embeddings=True)).max() < 1e-5


def test_a_file_is_replaced_with_force_only(encoder: isotrope.Encoder, tmp_path: Path) -> None:
    output = tmp_path / "x.parquet"
    done = encode(pd.Series([*SENTENCES, None]), encoder, output=str(output))
    assert (done.path, done.sentences, done.blank, done.dim, done.truncated) == (output, 3, 1, 256, 0)
    assert parquet.read_table(output)["text"].to_pylist() == SENTENCES
    with pytest.raises(IsotropeError, match=r"x\.parquet: exists already; give force=True to overwrite it"):
        encode(SENTENCES, encoder, output=output)
    assert encode(SENTENCES[:1], encoder, output=output, force=True).sentences == 1


def test_what_was_truncated_before_is_not_counted_again(encoder: isotrope.Encoder, tmp_path: Path) -> None:
    for number in range(2):
        done = encode(["very " * 300 + "long", "A dog."], encoder, output=tmp_path / f"{number}.npy")
        assert (done.truncated, done.max_seq_length) == (1, 128)


def test_vectors_that_are_no_numbers_are_an_error(tmp_path: Path) -> None:
    broken = isotrope.load(device="cpu")
    with torch.no_grad():
        next(broken.backbone.parameters()).fill_(float("nan"))
    with pytest.raises(IsotropeError, match="'bundled' gives vectors that are no numbers, such as that of: A dog"):
        encode(SENTENCES, broken, output=tmp_path / "x.npy")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("device", ["nonsense", "cuda:99", "meta"])
def test_a_device_that_there_is_not(device: str) -> None:
    with pytest.raises(IsotropeError, match=f"there is no device '{device}' on this machine; leave out device="):
        encode(SENTENCES, device=device)
