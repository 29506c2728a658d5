"""Whose neighbours changed most from one encoder to another: for people to read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from isotrope.reporting.spaces import Space

NEAREST = 4  # neighbours of a text that are shown
SHOWN = 8  # texts


@dataclass(frozen=True)
class Neighbour:
    """A text, its cosine with another, and whether it is among the neighbours under one of the two encoders only."""

    text: str
    cosine: float
    new: bool


@dataclass(frozen=True)
class Changed:
    """A text, its neighbours before and after, and how many of those stayed."""

    text: str
    before: list[Neighbour]
    after: list[Neighbour]
    stayed: int

    def as_dict(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)


def most_changed(texts: Sequence[str], before: Space, after: Space, shown: int = SHOWN) -> list[Changed]:
    """The texts that lost most of their nearest ones; of equal loss, those whose neighbours moved furthest.

    Cosines of two encoders are not on one scale, so how far is measured in standard deviations of random pairs.
    """
    k = min(NEAREST, len(texts) - 1)
    first, second = before.neighbours(k), after.neighbours(k)
    moved = _standardised(after) - _standardised(before)
    here = np.arange(len(texts))[:, None]
    far = np.abs(moved[here, first]).sum(axis=1) + np.abs(moved[here, second]).sum(axis=1)
    stayed = np.array([len(np.intersect1d(*rows)) for rows in zip(first, second, strict=True)])
    order = np.lexsort((-far, stayed))[:shown]

    def listed(row: int, own: Space, mine: Any, others: Any) -> list[Neighbour]:
        return [
            Neighbour(texts[j], round(float(own.cosines[row, j]), 3), j not in set(others[row].tolist()))
            for j in mine[row].tolist()
        ]

    return [
        Changed(texts[i], listed(i, before, first, second), listed(i, after, second, first), int(stayed[i]))
        for i in order.tolist()
        if stayed[i] < k
    ]


def _standardised(space: Space) -> Any:
    """Cosines in standard deviations above the mean of random pairs; of a text with itself 0."""
    scaled = (space.cosines - space.random.mean()) / max(float(space.random.std()), 1e-9)
    np.fill_diagonal(scaled, 0)
    return scaled
