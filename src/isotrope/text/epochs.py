"""The batches of one pass over a corpus: its rows in random order, and no text twice in one batch."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence

import numpy as np

from isotrope.io.errors import IsotropeError
from isotrope.text.arrays import IntArray
from isotrope.text.corpus import Corpus
from isotrope.text.permutation import permuted

ABSENT = -1  # fills the places of a batch that is smaller than the others
CHUNK_ROWS = 2**18  # put into batches at a time


def one_epoch(
    corpus: Corpus, batch_size: int, seed: int, epoch: int, drop_last: bool, held_out: Sequence[int]
) -> Iterator[IntArray]:
    """The batches of one pass over the corpus, in blocks (some, batch_size)."""
    batches = _Batches(corpus.keys, batch_size)
    for start in range(0, len(corpus), CHUNK_ROWS):
        stop = min(start + CHUNK_ROWS, len(corpus))
        rows = permuted(start, stop, len(corpus), seed, epoch)
        yield from batches.put(rows[~np.isin(rows, held_out)] if len(held_out) else rows)
    yield from batches.rest(drop_last)


def drawn_rows(rows: int, held_out: Sequence[int], few: int, seed: int) -> IntArray:
    """`few` rows that are not held out."""
    free = np.setdiff1d(np.arange(rows), held_out)
    if few > len(free):
        raise IsotropeError(f"training.few_shot {few}: there are {len(free)} rows to draw from")
    chosen: IntArray = np.random.default_rng(seed).choice(free, few, replace=False)
    return chosen


def repeated_rows(
    chosen: IntArray, size: int, batch_size: int, seed: int, epoch: int, drop_last: bool
) -> Iterator[IntArray]:
    """An epoch of the same few rows, each `size` // few times (ConSERT's code, `do_upsampling`), in random order."""
    total = max(1, size // len(chosen)) * len(chosen)
    rows = chosen[permuted(0, total, total, seed, epoch) % len(chosen)]
    whole = total - total % batch_size
    if not whole and drop_last:
        raise IsotropeError(f"training.few_shot {len(chosen)}: repeated they are {total}, less than a batch")
    yield rows[:whole].reshape(-1, batch_size)
    if whole < total and not drop_last:
        yield np.array([[*rows[whole:].tolist(), *[ABSENT] * (batch_size - total + whole)]])


class _Batches:
    """Puts rows into batches in the order they come; one that has a text in common with the batch waits for the next.

    Those that wait are kept under the text that was in their way. A batch takes at most one from under each such text,
    so however many identical rows wait, it has few places to look. When nothing is begun, nothing waits either: the
    first of the waiting always fits an empty batch.
    """

    def __init__(self, keys: IntArray, batch_size: int) -> None:
        self.keys, self.batch_size = np.asarray(keys), batch_size
        self.begun: list[int] = []
        self.seen: set[int] = set()  # keys of the rows in `begun`
        self.waiting: dict[int, array[int]] = {}

    def put(self, rows: IntArray) -> Iterator[IntArray]:
        """Further rows (some,); gives the batches that they fill."""
        keys = self.keys[rows]
        repeats = np.append(_repeats(keys, self.batch_size), len(rows))
        at = 0
        while at < len(rows):
            if not self.begun:  # up to the next repeat, whole batches can be taken as they are
                free = repeats[np.searchsorted(repeats, at)] - at
                whole = at + free - free % self.batch_size
                yield rows[at:whole].reshape(-1, self.batch_size)
                at = whole
            piece = slice(at, at + self.batch_size - len(self.begun))
            for row, texts in zip(rows[piece].tolist(), keys[piece].tolist(), strict=True):
                self._place(row, texts)
                at += 1
            yield from self._filled()

    def rest(self, drop_last: bool) -> Iterator[IntArray]:
        """What is left when no more rows come."""
        while self.begun:
            if not drop_last:
                yield np.array([self.begun + [ABSENT] * (self.batch_size - len(self.begun))])
            self._begin()
            yield from self._filled()

    def _place(self, row: int, keys: list[int]) -> None:
        """Into the batch, or among those that wait."""
        for key in keys:
            if key in self.seen:
                self.waiting.setdefault(key, array("q")).append(row)
                return
        self.begun.append(row)
        self.seen.update(keys)

    def _filled(self) -> Iterator[IntArray]:
        while len(self.begun) == self.batch_size:
            yield np.array([self.begun])
            self._begin()

    def _begin(self) -> None:
        """A new batch, with those that waited first."""
        self.begun, self.seen = [], set()
        for key in list(self.waiting):
            if len(self.begun) == self.batch_size:
                break
            row = self.waiting[key].pop()
            if not self.waiting[key]:
                del self.waiting[key]
            self._place(row, self.keys[row].tolist())


def _repeats(keys: IntArray, reach: int) -> IntArray:
    """Where in keys (rows, texts) a row shares a text with another fewer than `reach` rows before it; ascending."""
    flat = keys.ravel()
    order = np.argsort(flat, kind="stable")
    place = order // keys.shape[1]
    gap = np.diff(place)
    near = (np.diff(flat[order]) == 0) & (gap > 0) & (gap < reach)
    return np.unique(place[1:][near])
