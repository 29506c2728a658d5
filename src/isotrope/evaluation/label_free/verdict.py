"""The rule by which one encoder is called better than another, without labels.

Texts that belong together (the halves of a long sentence, a sentence and its back-translation) seek each other among
all: the higher they rank, the better the encoder knows what belongs together. Both encoders get the same pairs, and a
paired bootstrap over the pairs says how far the difference could be chance. `bench/verdict.py` measures how often that
agrees with the grades of people, and why the reciprocal rank of the halves decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from isotrope.evaluation.correlation import SAME
from isotrope.evaluation.geometry.measures import alignment, effective_rank, mean_cosine, uniformity
from isotrope.evaluation.label_free.related_texts import RelatedTexts
from isotrope.evaluation.protocols import SentenceEncoder
from isotrope.evaluation.results.resampling import Sample, interval, resampled
from isotrope.io.errors import IsotropeError

Floats = NDArray[np.float64]
Judgement: TypeAlias = Literal["better", "worse", "no clear difference"]
QUERIES_AT_ONCE = 1024  # rows of the matrix of cosines


@dataclass(frozen=True)
class Ranks:
    """How related texts find each other: the rank of each second text among all for its first, and the reverse."""

    ranks: NDArray[np.int64]  # (2, pairs), 1 is best
    alignment: float

    @property
    def pairs(self) -> int:
        """How many there are."""
        return int(self.ranks.shape[1])

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
    """One encoder on one text; `ranks` by the kind of the pairs."""

    ranks: dict[str, Ranks]
    uniformity: float
    mean_cosine: float
    effective_rank: float


@dataclass(frozen=True)
class MRRDifference:
    """Of the mean reciprocal rank, after less before, x 100, with its 95% interval."""

    mrr: float
    low: float
    high: float

    @property
    def change(self) -> float:
        """The difference itself."""
        return self.mrr

    @property
    def judgement(self) -> Judgement:
        """What the interval allows to say."""
        return "better" if self.low > 0 else "worse" if self.high < 0 else "no clear difference"


def contradict(differences: Iterable[MRRDifference]) -> bool:
    """Whether one says better and another worse."""
    return {"better", "worse"} <= {difference.judgement for difference in differences}


def judge(differences: Sequence[MRRDifference]) -> Judgement:
    """The first decides, unless they contradict each other."""
    return "no clear difference" if contradict(differences) else differences[0].judgement


def figures_of(
    encoder: SentenceEncoder, vectors: Any, related: Sequence[RelatedTexts], *, batch_size: int = 64
) -> Figures:
    """Those of one encoder, given its vectors (sentences, dim) of the text."""
    ranks = {
        pairs.kind: find_each_other(
            encoder.encode(pairs.first, batch_size=batch_size),
            encoder.encode(pairs.second, batch_size=batch_size),
            pairs,
        )
        for pairs in related
    }
    return Figures(ranks, uniformity(vectors), mean_cosine(vectors), effective_rank(vectors))


def find_each_other(first: Any, second: Any, pairs: RelatedTexts) -> Ranks:
    """The vectors of both sides of the pairs, (pairs, dim) -> how they find each other."""
    x, y = unit(first), unit(second)
    return Ranks(np.stack([_ranks(x, y, pairs.second), _ranks(y, x, pairs.first)]), alignment(x, y))


def mrr_difference(before: Ranks, after: Ranks) -> MRRDifference:
    """Of two encoders on the same pairs. The pairs are drawn again together, so what is hard for both cancels."""
    gains = after.reciprocal - before.reciprocal
    return MRRDifference(100 * float(gains.mean()), *interval(resampled([Sample("mean", gains)])))


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
