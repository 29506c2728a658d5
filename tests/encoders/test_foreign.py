"""Encoders of any make, for what needs vectors only."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.modules import Dense
from sentence_transformers.sentence_transformer.modules import BoW
from sentence_transformers.sentence_transformer.modules import Pooling as TokenPooling

import isotrope
from isotrope.encoders import Encoder, ForeignEncoder, load_any
from isotrope.encoders.loading import BUNDLED
from isotrope.io.errors import IsotropeError

TEXTS = ["A cat sat.", "Dogs bark loudly at night in the old town near the river.", "Hello!", "What is the time?"] * 3


@pytest.fixture
def counts(tmp_path: Path) -> Path:
    SentenceTransformer(modules=[BoW(["a", "the", "cat", "dogs"])]).save(str(tmp_path / "counts"))
    return tmp_path / "counts"


@pytest.fixture
def tokenwise(tmp_path: Path) -> Path:
    """A dense layer between transformer and pooling: no backbone and pooling, in that order."""
    torch.manual_seed(0)
    transformer = SentenceTransformer(str(BUNDLED), device="cpu", model_kwargs={"dtype": torch.float32})[0]
    dense = Dense(256, 256, module_input_name="token_embeddings")
    model = SentenceTransformer(modules=[transformer, dense, TokenPooling(256)], device="cpu")
    model.save(str(tmp_path / "tokenwise"))
    return tmp_path / "tokenwise"


def test_a_transformer_is_an_encoder() -> None:
    encoder = load_any(pooling="cls")
    assert isinstance(encoder, Encoder)
    assert np.array_equal(encoder.encode(TEXTS), isotrope.load(pooling="cls").encode(TEXTS))


def test_others_give_vectors_too(counts: Path, tokenwise: Path) -> None:
    for folder in (counts, tokenwise):
        encoder = load_any(folder)
        wanted = SentenceTransformer(str(folder), device="cpu").encode(TEXTS)
        assert isinstance(encoder, ForeignEncoder)
        assert encoder.dim == wanted.shape[1]
        assert encoder.name == str(folder)
        assert np.abs(encoder.encode(iter(TEXTS)) - wanted).max() <= 1e-6
        assert np.abs(encoder.encode(TEXTS[1]) - wanted[1]).max() <= 1e-6
        assert np.abs(np.concatenate(list(encoder.encode_stream(iter(TEXTS), batch_size=5))) - wanted).max() <= 1e-6


def test_a_stream_takes_no_more_than_it_needs(counts: Path) -> None:
    taken = []

    def sentences() -> object:
        for i in range(1000):
            taken.append(i)
            yield "a cat"

    first = next(load_any(counts).encode_stream(sentences(), batch_size=1))  # type: ignore[arg-type]
    assert len(first) == len(taken) == 64


def test_what_was_cut_off_is_counted(tokenwise: Path, counts: Path) -> None:
    encoder = load_any(tokenwise)
    encoder.encode([*TEXTS, "word " * 300])
    assert (encoder.truncated, encoder.max_seq_length) == (1, 128)
    encoder = load_any(counts)
    encoder.encode(["word " * 300])
    assert encoder.truncated == 0


def test_what_it_has_not(counts: Path, tokenwise: Path) -> None:
    for folder, words in (
        (counts, "begins with a BoW module"),
        (tokenwise, "has a Dense module after its transformer"),
    ):
        with pytest.raises(IsotropeError, match=words):
            isotrope.load(folder)
        with pytest.raises(IsotropeError, match="leave out the pooling"):
            load_any(folder, pooling="mean")


def test_saving_never_overwrites_unasked(counts: Path) -> None:
    with pytest.raises(IsotropeError, match="exists already"):
        load_any(counts).save(counts)


def test_a_folder_can_t_bring_code_of_its_own(counts: Path) -> None:
    (counts / "evil.py").write_text("raise SystemExit('run')\nclass Evil: ...\n")
    modules = json.loads((counts / "modules.json").read_text())
    for kind in ("evil.Evil", "isotrope_evil.Evil"):
        modules[0]["type"] = kind
        (counts / "modules.json").write_text(json.dumps(modules))
        with pytest.raises(IsotropeError, match="it brings code of its own"):
            load_any(counts)
