"""The pairs of a text whose similarity two encoders see most differently, for people to read.

Cosines of two encoders are not on one scale: for one, all pairs may have 0.9, for another 0. So each cosine is taken in
standard deviations above the mean of random pairs, and those are compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isotrope.text.placeholders import is_placeholder

Floats = NDArray[np.float64]
QUERIES_AT_ONCE = 1024  # rows of the matrix of cosines
SHIFTS = 10  # random pairs a sentence
SHOWN = 5


@dataclass(frozen=True)
class MovedPair:
    """Two sentences, their cosines, and how far above the mean of random pairs these are, in standard deviations."""

    first: str
    second: str
    cosine_before: float
    cosine_after: float
    above_before: float
    above_after: float


def moved_pairs(
    sentences: Sequence[str], before: Floats, after: Floats, shown: int = SHOWN
) -> tuple[list[MovedPair], list[MovedPair]]:
    """Of random pairs and nearest neighbours, those that moved closest together and those that moved furthest apart.

    The sentences are in random order; the vectors (sentences, dim) are normalised. No sentence is shown twice, no
    placeholder at all.
    """
    here = np.arange(len(sentences))
    random_pairs = np.stack([np.tile(here, SHIFTS), np.concatenate([np.roll(here, s) for s in range(1, SHIFTS + 1)])])
    pairs = np.concatenate([random_pairs, *(np.stack([here, _nearest(own)]) for own in (before, after))], axis=1)
    cosines = [(own[pairs[0]] * own[pairs[1]]).sum(1) for own in (before, after)]
    above = [_standardised(cosine, random_pairs.shape[1]) for cosine in cosines]
    order = np.argsort(above[1] - above[0], kind="stable")
    rows = list(zip(*pairs.tolist(), *cosines, *above, strict=True))
    return _first(sentences, rows, order[::-1], shown, 1), _first(sentences, rows, order, shown, -1)


def _first(
    sentences: Sequence[str], rows: Sequence[Any], order: NDArray[np.intp], shown: int, sign: int
) -> list[MovedPair]:
    """The first pairs in `order` that moved in the direction of `sign`, each with sentences of its own."""
    found: list[MovedPair] = []
    used = {row for row, text in enumerate(sentences) if is_placeholder(text)}  # which say nothing
    for row in order:
        first, second, *numbers = rows[row]
        pair = MovedPair(sentences[first], sentences[second], *map(float, numbers))
        if len(found) == shown or sign * (pair.above_after - pair.above_before) <= 0:
            break
        if not {first, second} & used:
            used |= {first, second}
            found.append(pair)
    return found


def _standardised(cosines: Floats, random: int) -> Floats:
    """By mean and spread of the first `random` of them."""
    spread = cosines[:random].std()
    scaled: Floats = (cosines - cosines[:random].mean()) / (spread if spread > 0 else 1)
    return scaled


def _nearest(unit: Floats) -> NDArray[np.int64]:
    """The other sentence that is nearest to each, (sentences,)."""
    nearest = np.empty(len(unit), np.int64)
    for start in range(0, len(unit), QUERIES_AT_ONCE):
        rows = np.arange(start, min(start + QUERIES_AT_ONCE, len(unit)))
        near = unit[rows] @ unit.T
        near[rows - start, rows] = -np.inf
        nearest[rows] = near.argmax(1)
    return nearest
