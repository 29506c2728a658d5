"""Is one encoder better than another on a text, told without labels?

Texts that belong together (the halves of a long sentence, a sentence and its back-translation) seek each other among
all: the higher they rank, the better the encoder knows what belongs together. Both encoders are asked the same, and a
paired bootstrap over the pairs says how far the difference could be chance. `bench/verdict.py` measures how often that
agrees with the grades of people, and why the reciprocal rank of the halves decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from isotrope.evaluation.bootstrap import Sample, interval, resampled
from isotrope.evaluation.changes import Change, changes
from isotrope.evaluation.encodes import Encodes
from isotrope.evaluation.geometry import alignment, effective_rank, mean_cosine, uniformity
from isotrope.evaluation.positives import Positives
from isotrope.evaluation.sts import SAME
from isotrope.io.errors import IsotropeError

Floats = NDArray[np.float64]
Judgement: TypeAlias = Literal["better", "worse", "no clear difference"]
QUERIES_AT_ONCE = 1024  # rows of the matrix of cosines
FEWEST = 50  # pairs


@dataclass(frozen=True)
class Found:
    """How pairs are found: the rank of each second text among all for its first, and of the first for the second."""

    ranks: NDArray[np.int64]  # (2, pairs), 1 is best
    alignment: float

    @property
    def reciprocal(self) -> Floats:
        """1 / rank, the mean of both directions: (pairs,)."""
        means: Floats = (1 / self.ranks).mean(0)
        return means

    @property
    def mrr(self) -> float:
        """Mean reciprocal rank."""
        return float(self.reciprocal.mean())

    @property
    def recall(self) -> float:
        """Share of the texts whose other one ranks first."""
        return float((self.ranks == 1).mean())

    @property
    def median_rank(self) -> float:
        """Half of the texts find their other one at this rank or before."""
        return float(np.median(self.ranks))


@dataclass(frozen=True)
class Figures:
    """One encoder on one text; `found` by the kind of the pairs."""

    found: dict[str, Found]
    uniformity: float
    mean_cosine: float
    effective_rank: float


@dataclass(frozen=True)
class Difference:
    """Of the mean reciprocal rank, after less before, x 100, with its 95% interval."""

    mrr: float
    low: float
    high: float

    @property
    def judgement(self) -> Judgement:
        """What the interval allows to say."""
        return "better" if self.low > 0 else "worse" if self.high < 0 else "no clear difference"


@dataclass(frozen=True)
class Comparison:
    """Two encoders on one text; `differences` by the kind of the pairs, the first of which decides."""

    before: Figures
    after: Figures
    differences: dict[str, Difference]
    closer: list[Change]
    apart: list[Change]

    @property
    def decides(self) -> str:
        """The kind of pairs that the verdict rests on."""
        return next(iter(self.differences))

    @property
    def contradictory(self) -> bool:
        """Whether one kind of pairs says better and another worse."""
        return contradict(self.differences.values())

    @property
    def judgement(self) -> Judgement:
        """Whether `after` is better than `before`."""
        return judge(list(self.differences.values()))


def contradict(differences: Iterable[Difference]) -> bool:
    """Whether one says better and another worse."""
    return {"better", "worse"} <= {difference.judgement for difference in differences}


def judge(differences: Sequence[Difference]) -> Judgement:
    """The first decides, unless they contradict each other."""
    return "no clear difference" if contradict(differences) else differences[0].judgement


def compare(
    before: Encodes, after: Encodes, sentences: list[str], positives: Sequence[Positives], *, batch_size: int = 64
) -> Comparison:
    """Two encoders on the same different sentences, in random order, and the same pairs; the first kind decides."""
    usable = [pairs for pairs in positives if len(pairs) >= FEWEST]
    if not usable:
        there = " and ".join(f"{len(pairs)} {pairs.kind}" for pairs in positives)
        raise IsotropeError(f"the text has just {there}; at least {FEWEST} pairs of a kind are needed for a verdict")
    vectors = [np.asarray(encoder.encode(sentences, batch_size=batch_size)) for encoder in (before, after)]
    first, second = (
        figures(encoder, own, usable, batch_size=batch_size)
        for encoder, own in zip((before, after), vectors, strict=True)
    )
    closer, apart = changes(sentences, unit(vectors[0]), unit(vectors[1]))
    differences = {pairs.kind: difference(first.found[pairs.kind], second.found[pairs.kind]) for pairs in usable}
    return Comparison(first, second, differences, closer, apart)


def figures(encoder: Encodes, vectors: Any, positives: Sequence[Positives], *, batch_size: int = 64) -> Figures:
    """Those of one encoder, given its vectors (sentences, dim) of the text."""
    found = {
        pairs.kind: find(
            encoder.encode(pairs.first, batch_size=batch_size),
            encoder.encode(pairs.second, batch_size=batch_size),
            pairs,
        )
        for pairs in positives
    }
    return Figures(found, uniformity(vectors), mean_cosine(vectors), effective_rank(vectors))


def find(first: Any, second: Any, pairs: Positives) -> Found:
    """The vectors of both sides of the pairs, (pairs, dim) -> how they are found."""
    x, y = unit(first), unit(second)
    return Found(np.stack([_ranks(x, y, pairs.second), _ranks(y, x, pairs.first)]), alignment(x, y))


def difference(before: Found, after: Found) -> Difference:
    """Of two encoders on the same pairs. The pairs are drawn again together, so what is hard for both cancels."""
    gains = after.reciprocal - before.reciprocal
    return Difference(100 * float(gains.mean()), *interval(resampled([Sample("mean", gains)])))


def unit(vectors: Any) -> Floats:
    """Rows of length one, (sentences, dim); a row of zeros stays one."""
    vectors = np.asarray(vectors, np.float64)
    if not np.isfinite(vectors).all():
        raise IsotropeError("the encoder gives vectors that are not numbers; there is nothing to compare")
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: Floats = vectors / np.where(length > 0, length, 1)
    return scaled


def _ranks(queries: Floats, candidates: Floats, texts: Sequence[str]) -> NDArray[np.int64]:
    """The rank of candidate i for query i, (pairs,). One that is as near stands before it, so that an encoder to which
    all is alike finds nothing; but not one of the same text, which is as right.
    """
    text = np.unique([one.casefold() for one in texts], return_inverse=True)[1]
    ranks = np.empty(len(queries), np.int64)
    for start in range(0, len(queries), QUERIES_AT_ONCE):
        rows = np.arange(start, min(start + QUERIES_AT_ONCE, len(queries)))
        near = queries[rows] @ candidates.T  # (some, pairs)
        own = near[rows - start, rows][:, None]
        ranks[rows] = 1 + ((near > own - SAME) & (text != text[rows][:, None])).sum(1)
    return ranks
