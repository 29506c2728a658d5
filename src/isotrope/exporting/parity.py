"""How near an exported encoder is to the original, and what it is worth: cosine, graded pairs, speed, size."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isotrope.encoders import Encoder, ForeignEncoder
from isotrope.evaluation import Pairs, score_pairs
from isotrope.fits.base import unit

ROUNDS = 3  # of each, in turns; the median counts
BATCH = 32  # that both are given, as people leave it


@dataclass(frozen=True)
class Parity:
    """An exported encoder beside the one that it was made from."""

    cosine: float | None  # mean of those between the two's vectors; None where these are of another space
    lowest_cosine: float | None
    neighbours: float  # share of the ten nearest of each text that are the same
    pairs: str  # what is correlated below
    spearman_before: float  # x 100, of the original
    spearman: float  # of the exported one
    speed_before: float  # texts a second
    speed: float
    bytes_before: int
    bytes: int

    @property
    def drop(self) -> float:
        """Points of Spearman x 100 lost."""
        return self.spearman_before - self.spearman

    @property
    def speed_up(self) -> float:
        """How many times as fast."""
        return self.speed / self.speed_before

    def lines(self) -> list[str]:
        """For people."""
        change = round(self.spearman, 2) - round(self.spearman_before, 2)  # of the two figures that stand beside it
        near = "" if self.cosine is None else f"cosine to float32 {self.cosine:.4f} (lowest {self.lowest_cosine:.4f}), "
        return [
            f"{near}{self.neighbours:.0%} of the ten nearest texts are the same",
            f"Spearman x 100 on {self.pairs}: {self.spearman_before:.2f} -> {self.spearman:.2f} ({change:+.2f})",
            f"{self.speed_before:,.0f} -> {self.speed:,.0f} texts/s ({self.speed_up:.1f}x)",
            f"{self.bytes_before / 1e6:,.1f} -> {self.bytes / 1e6:,.1f} MB",
        ]

    def to_dict(self) -> dict[str, Any]:
        """For programs."""
        return asdict(self) | {"drop": self.drop, "speed_up": self.speed_up}


def measure(
    before: Encoder,
    after: Encoder | ForeignEncoder,
    text: Sequence[str],
    pairs: Pairs,
    task: str,
    sizes: tuple[int, int],
    *,
    same_space: bool,
) -> Parity:
    """Both on the same text, by turns: a busy machine slows both. Cosines between the two need vectors of one space."""
    times: tuple[list[float], list[float]] = ([], [])
    vectors: list[NDArray[Any]] = [np.empty(0), np.empty(0)]
    for _ in range(ROUNDS):
        for k, encoder in enumerate((before, after)):
            began = time.perf_counter()
            vectors[k] = unit(encoder.encode(list(text), batch_size=BATCH))
            times[k].append(time.perf_counter() - began)
    one, other = vectors
    cosines = (one * other).sum(1) if same_space else None
    speeds = [len(text) / statistics.median(spent) for spent in times]
    scores = [score_pairs(encoder, pairs).spearman["all"] for encoder in (before, after)]
    return Parity(
        cosine=None if cosines is None else float(cosines.mean()),
        lowest_cosine=None if cosines is None else float(cosines.min()),
        neighbours=same_neighbours(one, other),
        pairs=f"{len(pairs.scores):,} pairs of {task}",
        spearman_before=scores[0],
        spearman=scores[1],
        speed_before=speeds[0],
        speed=speeds[1],
        bytes_before=sizes[0],
        bytes=sizes[1],
    )


def same_neighbours(one: NDArray[Any], other: NDArray[Any], count: int = 10) -> float:
    """Of the `count` nearest rows of each row, the share that is the same among both; rows have length one."""
    count = min(count, len(one) - 1)
    if count < 1:
        return 1.0
    near = []
    for vectors in (one, other):
        cosines = vectors @ vectors.T
        np.fill_diagonal(cosines, -np.inf)
        near.append(np.argpartition(-cosines, count - 1, axis=1)[:, :count])
    shared = [len(np.intersect1d(a, b)) for a, b in zip(*near, strict=True)]
    return float(np.mean(shared)) / count


def folder_bytes(folder: Path) -> int:
    """Of all files in it."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
