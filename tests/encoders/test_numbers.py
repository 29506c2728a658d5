"""Vectors do not depend on how they were computed, beyond the last digits; and they stay what they were.

GOLDEN are a few numbers of the encoders in the package. Another version of a dependency that tokenizes or computes
differently is found here before it is found in somebody's index.
"""

from __future__ import annotations

import numpy as np
import pytest
import torch

import isotrope
from isotrope.encoders import packing
from isotrope.encoders.loading import load
from isotrope.text import bundled_sentences

TOLERANCE = 2e-5  # of numbers around 1: float32 sums in another order
TEXTS = [*bundled_sentences()[:30], "A dog.", " ".join(bundled_sentences()[:8]), "Ångström naïve — 你好", "a b " * 60]
GOLDEN_TEXTS = ["A dog runs across the field.", "Interest rates rise.", "Ångström, naïve café — 你好!"]
GOLDEN = {  # the first six numbers of each
    "bundled": [
        [-1.11079, -0.41764, 0.03626, 0.02279, -0.09882, 0.48094],
        [-0.68209, -1.09278, 0.00646, 0.14963, 0.40292, 0.99318],
        [-0.30709, -0.70412, 0.35239, 0.2585, -0.11577, -0.45321],
    ],
    "small": [
        [0.23014, 0.00969, 0.42872, 0.21954, 0.09245, -0.06096],
        [0.1473, -0.31944, -0.26057, 0.42222, 0.44544, 0.13649],
        [0.50732, -0.49591, 0.08305, 0.54233, 0.11807, -0.03082],
    ],
}
GOLDEN_TOKENS = {"bundled": [9, 6, 15], "small": [9, 6, 11]}


@pytest.fixture(scope="module", params=["bundled", "small"])
def encoder(request: pytest.FixtureRequest) -> isotrope.Encoder:
    return load(request.param)


@pytest.fixture(scope="module")
def alone(encoder: isotrope.Encoder) -> np.ndarray:
    """Every text by itself: nothing to be packed with, no padding."""
    return np.stack([encoder.encode(text) for text in TEXTS])


def apart(found: np.ndarray, wanted: np.ndarray) -> float:
    return float(np.abs(found - wanted).max() / max(1.0, np.abs(wanted).max()))


@pytest.mark.parametrize("size", [2, 7, 64])
def test_batch_sizes(encoder: isotrope.Encoder, alone: np.ndarray, size: int) -> None:
    assert apart(encoder.encode(TEXTS, batch_size=size), alone) <= TOLERANCE


@pytest.mark.parametrize("width", [64, 192, 1024])
def test_widths_of_packed_rows(
    encoder: isotrope.Encoder, alone: np.ndarray, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def rows_of(lengths: list[int], *, coarse: bool) -> list[list[int]]:
        order = sorted(range(len(lengths)), key=lambda i: -lengths[i])
        return packing.even_rows(lengths, order, max(1, round(sum(lengths) / max(width, *lengths))))

    monkeypatch.setattr(packing, "plan_rows", rows_of)
    assert apart(encoder.encode(TEXTS, batch_size=16), alone) <= TOLERANCE


def test_threads(encoder: isotrope.Encoder, alone: np.ndarray) -> None:
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2 if before == 1 else 1)
        assert apart(encoder.encode(TEXTS[:6]), alone[:6]) <= TOLERANCE
    finally:
        torch.set_num_threads(before)


def test_the_same_call_gives_the_same_bits(encoder: isotrope.Encoder) -> None:
    np.testing.assert_array_equal(encoder.encode(TEXTS), encoder.encode(TEXTS))


def test_vectors_are_what_they_were(encoder: isotrope.Encoder) -> None:
    found = encoder.encode(GOLDEN_TEXTS)[:, :6]
    np.testing.assert_allclose(found, GOLDEN[encoder.name], rtol=0, atol=5e-5)
    assert [len(ids) for ids in encoder.tokenizer(GOLDEN_TEXTS)["input_ids"]] == GOLDEN_TOKENS[encoder.name]
