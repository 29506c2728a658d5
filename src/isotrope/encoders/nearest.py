"""Nearest neighbours among vectors, by cosine: exact where there are few, by an index where there are many.

The index is usearch's HNSW. Why that one: hnswlib comes as source only and needs a compiler to install; faiss-cpu
brings an OpenMP and a BLAS of its own, which do not get along with torch's on every system. What the three measured
is in docs/results.md.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np

Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float32]]
Ints: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]

EXACT_UP_TO = 20_000  # vectors among which all are compared with all
BLOCK = 1024  # vectors that are compared with all others at a time
CONNECTIVITY, EXPANSION = 16, 128  # of the index: edges of a node, and how many candidates are looked at


class Nearest(NamedTuple):
    """The nearest of each vector: (n, k) places, the nearest first, and their cosines. -1 and -inf where none is."""

    places: Ints
    cosines: Floats


def nearest(vectors: Floats, queries: Floats, k: int, *, exact_up_to: int = EXACT_UP_TO) -> Nearest:
    """The `k` of `vectors` (m, dim) that are nearest to each of `queries` (n, dim). The same input, the same output."""
    vectors, queries = unit_rows(vectors), unit_rows(queries)
    found = min(k, len(vectors))
    search = _exact if len(vectors) <= exact_up_to else _by_index
    index, cosine = search(vectors, queries, found)
    missing = ((0, 0), (0, k - found))
    return Nearest(
        np.pad(index, missing, constant_values=-1), np.pad(cosine, missing, constant_values=np.float32(-np.inf))
    )


def _exact(vectors: Floats, queries: Floats, k: int) -> tuple[Ints, Floats]:
    index, cosine = np.empty((len(queries), k), np.int64), np.empty((len(queries), k), np.float32)
    for start in range(0, len(queries), BLOCK):
        rows = slice(start, start + BLOCK)
        alike = queries[rows] @ vectors.T
        some = np.argpartition(-alike, k - 1, axis=1)[:, :k]
        order = np.argsort(-np.take_along_axis(alike, some, axis=1), axis=1, kind="stable")
        index[rows] = np.take_along_axis(some, order, axis=1)
        cosine[rows] = np.take_along_axis(alike, index[rows], axis=1)
    return index, cosine


def _by_index(vectors: Floats, queries: Floats, k: int) -> tuple[Ints, Floats]:
    from usearch.index import Index  # slow to import

    made = Index(
        ndim=vectors.shape[1],
        metric="ip",
        dtype="f32",
        connectivity=CONNECTIVITY,
        expansion_add=EXPANSION,
        expansion_search=EXPANSION,
    )
    made.add(np.arange(len(vectors)), vectors, threads=1)  # one thread: the same index each time
    matches = made.search(queries, k, threads=1)
    return matches.keys.astype(np.int64), (1 - matches.distances).astype(np.float32)


def unit_rows(vectors: Floats) -> Floats:
    """Of length one; zeros stay zeros."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: Floats = np.asarray(vectors / np.where(lengths > 0, lengths, 1), dtype=np.float32)
    return scaled
