"""Rankings: do texts of one class find each other, do pairs that mean the same come first, do queries find documents?

    AP = (sum over the relevant items of the precision at their place in the ranking) / (number of relevant items)

    nDCG@k = (sum over the relevant documents among the first k of gain / log2(1 + place)) / (the same, best order)

Items of equal similarity share a place, the last of theirs, as in scikit-learn: their order would be chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isotrope.io.errors import IsotropeError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
QUERIES_AT_ONCE = 512  # rows of the matrix of cosines


def average_precisions(vectors: ArrayLike, classes: ArrayLike) -> Floats:
    """The average precision of each text at finding the others of its class, by cosine among all others.

    Vectors (texts, dim) and classes (texts,) -> (texts that are not the only one of their class,). Their mean is the
    mean average precision.

    >>> average_precisions([[1, 0], [1, 0.1], [0, 1], [0.1, 1]], ["a", "a", "b", "a"]).round(2).tolist()
    [1.0, 1.0, 0.58]
    """
    unit, kinds = unit_rows(vectors), np.unique(np.asarray(classes), return_inverse=True)[1]
    found = []
    for start in range(0, len(unit), QUERIES_AT_ONCE):
        queries = np.arange(start, min(start + QUERIES_AT_ONCE, len(unit)))
        similarities = unit[queries] @ unit.T  # (queries, texts)
        same = kinds[queries, None] == kinds[None]
        similarities[queries - start, queries], same[queries - start, queries] = -np.inf, False  # not itself
        found.append(_of_rows(similarities, same)[same.any(axis=1)])
    return np.concatenate(found)


def average_precision(similarities: ArrayLike, same: ArrayLike) -> float:
    """Of pairs, from the similarity of each (pairs,) and whether it means the same (pairs,): 0 or 1.

    >>> average_precision([0.9, 0.8, 0.7, 0.1], [1, 0, 1, 0]).__round__(3)
    0.833
    """
    return float(_of_rows(np.asarray(similarities)[None], np.asarray(same, bool)[None])[0])


def places(queries: ArrayLike, documents: ArrayLike, relevant: Sequence[Sequence[int]]) -> list[Ints]:
    """Of each query, the places of its relevant documents among all, by cosine; the first place is 1.

    Vectors (queries, dim) and (documents, dim), and the numbers of the documents that are relevant to each query.

    >>> [found.tolist() for found in places([[1, 0]], [[1, 0.1], [0, 1], [1, 0]], [[0, 1]])]
    [[2, 3]]
    """
    asked, among = unit_rows(queries), unit_rows(documents)
    found = []
    for start in range(0, len(asked), QUERIES_AT_ONCE):
        similarities = asked[start : start + QUERIES_AT_ONCE] @ among.T  # (queries, documents)
        for row, wanted in zip(similarities, relevant[start:], strict=False):
            found.append(np.array([np.count_nonzero(row >= row[one]) for one in wanted], np.int64))
    return found


def ndcg(places: Ints, gains: Sequence[float], at: int) -> float:
    """Of one query, from the places of its relevant documents and how relevant each is.

    >>> round(ndcg(np.array([1, 3]), [1, 1], 10), 3)
    0.92
    """
    given, ideal = np.array(gains, np.float64), np.sort(np.array(gains, np.float64))[::-1][:at]
    reached = np.where(places <= at, given / np.log2(1 + places), 0).sum()
    return float(reached / (ideal / np.log2(2 + np.arange(len(ideal)))).sum())


def unit_rows(vectors: ArrayLike) -> NDArray[Any]:
    """Rows of length one, (texts, dim); a row of zeros stays one."""
    rows = np.asarray(vectors)
    rows = rows.astype(np.result_type(rows, np.float32))
    if not np.isfinite(rows).all():
        raise IsotropeError("the encoder gives vectors that are not numbers; they have no cosine")
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: NDArray[Any] = rows / np.where(length > 0, length, 1)
    return unit


def _of_rows(similarities: NDArray[Any], relevant: NDArray[np.bool_]) -> Floats:
    """A ranking in each row: both (rows, items) -> (rows,); nan where nothing is relevant."""
    order = np.argsort(-similarities, axis=1)
    ordered = np.take_along_axis(similarities, order, axis=1)
    hits = np.cumsum(np.take_along_axis(relevant, order, axis=1), axis=1, dtype=np.float64)
    last = np.ones(hits.shape, bool)  # of the items that are equally similar
    last[:, :-1] = ordered[:, :-1] != ordered[:, 1:]
    fresh = np.diff(np.maximum.accumulate(np.where(last, hits, 0), axis=1), axis=1, prepend=0)  # hits of each place
    precision = hits / np.arange(1, hits.shape[1] + 1)
    with np.errstate(invalid="ignore"):
        found: Floats = (fresh * precision).sum(axis=1) / hits[:, -1]
    return found
