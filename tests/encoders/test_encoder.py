from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer

import isotrope
from isotrope.encoders.loading import BUNDLED
from isotrope.io.errors import IsotropeError
from isotrope.text import bundled_sentences

TEXTS = bundled_sentences()[:150]


@pytest.fixture(scope="module")
def encoder() -> isotrope.Encoder:
    return isotrope.load()


@pytest.fixture(scope="module")
def peer() -> SentenceTransformer:
    return SentenceTransformer(str(BUNDLED), device="cpu", model_kwargs={"dtype": torch.float32})


def test_vectors_are_those_of_sentence_transformers(encoder: isotrope.Encoder, peer: SentenceTransformer) -> None:
    assert encoder.packing
    assert np.abs(encoder.encode(TEXTS) - peer.encode(TEXTS)).max() <= 1e-5


@pytest.mark.parametrize(
    "options",
    [
        {"normalize_embeddings": True},
        {"truncate_dim": 100},
        {"truncate_dim": 100, "normalize_embeddings": True},
        {"convert_to_tensor": True},
        {"convert_to_numpy": False},
        {"prompt": "query: "},
        {"batch_size": 7},
    ],
)
def test_options_mean_what_they_mean_there(
    encoder: isotrope.Encoder, peer: SentenceTransformer, options: dict[str, object]
) -> None:
    ours, theirs = encoder.encode(TEXTS[:20], **options), peer.encode(TEXTS[:20], **options)
    assert type(ours) is type(theirs)
    ours, theirs = (torch.stack(x) if isinstance(x, list) else torch.as_tensor(x) for x in (ours, theirs))
    assert ours.shape == theirs.shape
    assert (ours - theirs).abs().max() <= 1e-5


@pytest.mark.parametrize("precision", ["int8", "uint8", "binary", "ubinary"])
def test_precision(encoder: isotrope.Encoder, peer: SentenceTransformer, precision: str) -> None:
    ours, theirs = encoder.encode(TEXTS, precision=precision), peer.encode(TEXTS, precision=precision)
    assert ours.dtype == theirs.dtype
    assert ours.shape == theirs.shape
    assert (ours == theirs).mean() > 0.99  # a value on the edge of two bins may fall either way


def test_token_vectors(encoder: isotrope.Encoder, peer: SentenceTransformer) -> None:
    ours = encoder.encode(TEXTS[:9], output_value="token_embeddings")
    theirs = peer.encode(TEXTS[:9], output_value="token_embeddings")
    for one, other in zip(ours, theirs, strict=True):
        assert one.shape == other.shape
        assert (one - other).abs().max() <= 1e-5


def test_one_string_and_none(encoder: isotrope.Encoder) -> None:
    assert encoder.encode("A single sentence.").shape == (encoder.dim,)
    assert encoder.encode([]).shape == (0, encoder.dim)


def test_order_is_kept_whatever_the_batches(encoder: isotrope.Encoder) -> None:
    one_by_one = np.stack([encoder.encode(text) for text in TEXTS[:40]])
    for batch_size in (1, 3, 64):
        assert np.abs(encoder.encode(TEXTS[:40], batch_size=batch_size) - one_by_one).max() <= 1e-5


def test_streams_without_reading_ahead(encoder: isotrope.Encoder) -> None:
    """What is held at any time is one chunk: no sentence is taken before those of the chunk before it were answered."""
    taken = 0

    def source() -> Iterator[str]:
        nonlocal taken
        for i in range(1200):
            taken += 1
            yield f"word {i}"

    rows, chunks = 0, 0
    for chunk in encoder.encode_stream(source(), batch_size=4):
        rows, chunks = rows + len(chunk), chunks + 1
        assert taken == rows
    assert rows == 1200
    assert chunks > 3


def test_truncated_sentences_are_counted(encoder: isotrope.Encoder) -> None:
    before = encoder.truncated
    encoder.encode(["short", "word " * 500, "short again"])
    assert encoder.truncated == before + 1


def test_training_mode_comes_back(encoder: isotrope.Encoder) -> None:
    encoder.train()
    first, second = encoder.encode(TEXTS[:3]), encoder.encode(TEXTS[:3])
    assert np.array_equal(first, second)  # no dropout while encoding
    assert encoder.training
    encoder.eval()


def test_unknown_prompt_and_batch_size(encoder: isotrope.Encoder) -> None:
    with pytest.raises(IsotropeError, match="no prompt named 'query'"):
        encoder.encode(TEXTS, prompt_name="query")
    with pytest.raises(IsotropeError, match="batch_size"):
        encoder.encode(TEXTS, batch_size=0)


def test_another_pooling_shares_the_weights(encoder: isotrope.Encoder) -> None:
    other = encoder.with_pooling("cls@2")
    assert other.backbone is encoder.backbone
    assert str(encoder.pooling) == "mean"
    assert str(other.pooling) == "cls@2"
