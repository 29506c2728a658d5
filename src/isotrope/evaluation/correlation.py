"""How well the cosines of sentence vectors follow the grades that people gave to pairs of sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import pearsonr, spearmanr

from isotrope.evaluation.data.pairs import Pairs
from isotrope.evaluation.protocols import SentenceEncoder
from isotrope.io.errors import IsotropeError

SAME = 1e-6  # cosines this close together are one value and float32 noise: their ranks mean nothing
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Correlation:
    """Spearman's and Pearson's correlation of cosines with gold scores, x 100."""

    spearman: float
    pearson: float
    pairs: int


@dataclass(frozen=True)
class PairScores:
    """The figures of a task, x 100, under each aggregation over its subtasks.

    `all` merges the pairs of all subtasks, `mean` is the plain mean over subtasks, `wmean` weights it by their pairs.
    """

    spearman: dict[str, float]
    pearson: dict[str, float]
    pairs: int
    split: str
    subtasks: dict[str, Correlation]

    def as_json(self) -> dict[str, Any]:
        """`{"spearman": {"all": ...}, "pearson": ..., "pairs": ..., "split": ...}`, figures to two decimals."""
        return {
            "spearman": {name: round(figure, 2) for name, figure in self.spearman.items()},
            "pearson": {name: round(figure, 2) for name, figure in self.pearson.items()},
            "pairs": self.pairs,
            "split": self.split,
        }


def score_pairs(encoder: SentenceEncoder, pairs: Pairs, *, split: str = "test", batch_size: int = 64) -> PairScores:
    """Encodes each distinct sentence once and correlates the cosines of the pairs with the gold scores."""
    return correlations(pairs, similarities_of(encoder, pairs, batch_size=batch_size), split=split)


def similarities_of(encoder: SentenceEncoder, pairs: Pairs, *, batch_size: int = 64) -> Floats:
    """The cosine of each pair, (pairs,)."""
    return cosines(*pair_vectors(encoder, pairs, batch_size=batch_size)[1:])


def best_of_four(x: Any, y: Any, gold: Floats) -> float:
    """The highest Spearman x 100 over all pairs of cosine, negative Manhattan, negative Euclidean and dot product.

    sentence-transformers' evaluator chooses checkpoints by it unless told otherwise, and so does BSL's published code.
    """
    x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)  # (pairs, dim)
    four = (cosines(x, y), -abs(x - y).sum(1), -np.linalg.norm(x - y, axis=1), (x * y).sum(1))
    return max(correlate(similarities, gold, "all pairs").spearman for similarities in four)


def of_cosines(x: Any, y: Any, gold: Floats) -> float:
    """Spearman x 100 over all pairs by cosine."""
    return correlate(cosines(x, y), gold, "all pairs").spearman


SELECTIONS = {"cosine": of_cosines, "best-of-four": best_of_four}  # how checkpoints are chosen


def correlations(pairs: Pairs, similarities: Floats, *, split: str = "test") -> PairScores:
    """The figures of graded pairs from one similarity per pair, whatever it comes from."""
    gold, subtask = np.array(pairs.scores), np.array(pairs.subtask)
    subtasks = {
        name: correlate(similarities[subtask == name], gold[subtask == name], name)
        for name in dict.fromkeys(pairs.subtask)
    }
    merged = correlate(similarities, gold, "all pairs")
    sizes = [one.pairs for one in subtasks.values()]

    def aggregate(whole: float, parts: Sequence[float]) -> dict[str, float]:
        return {"all": whole, "mean": float(np.mean(parts)), "wmean": float(np.average(parts, weights=sizes))}

    return PairScores(
        spearman=aggregate(merged.spearman, [one.spearman for one in subtasks.values()]),
        pearson=aggregate(merged.pearson, [one.pearson for one in subtasks.values()]),
        pairs=merged.pairs,
        split=split,
        subtasks=subtasks,
    )


def correlate(similarities: Floats, gold: Floats, name: str) -> Correlation:
    """Correlation of similarities with gold scores; `name` says in an error which pairs it is about."""
    check_gold(gold, name)
    if not np.isfinite(similarities).all():
        raise IsotropeError(f"{name}: the encoder gives vectors that are not numbers; they have no cosine")
    if np.ptp(similarities) <= SAME:
        raise IsotropeError(f"{name}: the encoder gives every pair the same cosine, {similarities[0]:.6f}")
    spearman, pearson = spearmanr(similarities, gold).statistic, pearsonr(similarities, gold).statistic
    return Correlation(100 * float(spearman), 100 * float(pearson), len(gold))


def pair_vectors(encoder: SentenceEncoder, pairs: Pairs, *, batch_size: int = 64) -> tuple[Any, Any, Any]:
    """Vectors of all distinct sentences, (sentences, dim), and of the first and second of each pair, (pairs, dim)."""
    row = {sentence: i for i, sentence in enumerate(pairs.sentences)}
    vectors = encoder.encode(list(row), batch_size=batch_size)
    first, second = ([row[sentence] for sentence in side] for side in (pairs.sentences1, pairs.sentences2))
    return vectors, vectors[first], vectors[second]


def check_gold(gold: Floats, name: str) -> None:
    """Refuses gold scores with which nothing can be correlated."""
    if len(gold) < 3:
        raise IsotropeError(f"{name}: {len(gold)} pairs; a correlation needs at least 3")
    if np.ptp(gold) == 0:
        raise IsotropeError(f"{name}: every pair has the same gold score, {gold[0]:g}; there is nothing to correlate")


def cosines(x: Any, y: Any) -> Floats:
    """Cosine of each row of x with the same row of y, (pairs, dim) -> (pairs,).

    0 where a vector is zero, as SentEval counts a sentence of which an encoder knows no word.
    """
    x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
    norms = np.linalg.norm(x, axis=1) * np.linalg.norm(y, axis=1)
    similarities: Floats = (x * y).sum(1) / np.where(norms == 0, 1, norms)
    return similarities
