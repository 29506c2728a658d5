"""Which rows make batch k of a run: a random order for every epoch, and no text twice in one batch."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path
from shutil import disk_usage

import numpy as np

from isotrope.io.errors import IsotropeError
from isotrope.text.arrays import IntArray, growing_table, open_table
from isotrope.text.corpus import Corpus
from isotrope.text.permutation import permuted
from isotrope.text.sources import kind_of

PLAN = "plan.npy"
ABSENT = -1  # fills the places of a batch that is smaller than the others
CHUNK_ROWS = 2**18  # put into batches at a time


class Plan:
    """The row numbers of every batch of a run, memory-mapped."""

    def __init__(self, path: Path, epoch_starts: tuple[int, ...], steps_per_epoch: int) -> None:
        self.path, self.epoch_starts = path, epoch_starts
        self.steps_per_epoch = steps_per_epoch  # of the first epoch; the others may differ by what duplicates shift
        self._rows = open_table(path)

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, k: int) -> IntArray:
        """Row numbers of batch k."""
        rows = np.asarray(self._rows[k])
        present: IntArray = rows[rows != ABSENT]
        return present

    def __reduce__(self) -> tuple[Callable[..., Plan], tuple[Path, tuple[int, ...], int]]:
        """Another process opens the file itself; a pickled memory map would carry its whole content."""
        return Plan, (self.path, self.epoch_starts, self.steps_per_epoch)

    def epoch_of(self, k: int) -> int:
        """The epoch, from 0, that batch k belongs to."""
        return int(np.searchsorted(self.epoch_starts, k, side="right")) - 1


def plan_batches(
    corpus: Corpus,
    *,
    batch_size: int,
    epochs: float | None = None,
    steps: int | None = None,
    seed: int,
    drop_last: bool = True,
    held_out: Sequence[int] = (),
    few: int | None = None,
    folder: Path,
) -> Plan:
    """Plans `steps` batches, or those of `epochs` (one, if neither is said), into `folder`.

    The same corpus, batch size and seed give the same plan. A row that has a text in common with one of its batch waits
    for the next batch. With `drop_last`, what fills no whole batch at the end of an epoch is left out; otherwise it
    comes in smaller batches. Rows in `held_out` never come. Only `few` of the others do if it is said, drawn by the
    seed; each comes so often that an epoch is about as long as with all, and so may be in a batch several times.
    """
    _check_size(corpus, batch_size, len(held_out))
    rows = len(corpus) - len(held_out)
    per_epoch = rows // batch_size if drop_last else -(-rows // batch_size)
    _check_room(folder, steps or (epochs or 1) * per_epoch, batch_size)
    starts: list[int] = []
    planned = 0
    with growing_table(folder / PLAN, batch_size) as append:
        for epoch in count():
            most = _steps_left(steps, epochs, planned, epoch, per_epoch)
            if most == 0:
                break
            starts.append(planned)
            blocks = (
                _epoch(corpus, batch_size, seed, epoch, drop_last, held_out)
                if few is None
                else _repeated(_drawn(len(corpus), held_out, few, seed), rows, batch_size, seed, epoch, drop_last)
            )
            for block in _first(most, blocks):
                append(block)
                planned += len(block)
            if not planned:
                raise IsotropeError(
                    f"{corpus}: no {batch_size} of its {len(corpus)} {kind_of(corpus.columns)} are all different "
                    f"(distinct: {corpus.counts.distinct}): give more text or a smaller training.batch_size"
                )
            if epoch == 0 and (most is None or planned < most):
                per_epoch = planned
    return Plan(folder / PLAN, tuple(starts), per_epoch)


def held_out_rows(corpus: Corpus, about: int, one_in: int = 50) -> list[int]:
    """Some rows to measure on: about one in `one_in`, and no more than about `about`, chosen by their first text's key.

    Rows with the same first text go the same way, so none of these is met in training. A corpus that is too small, or
    nothing but repetition, has none.
    """
    share = max(one_in, -(-len(corpus) // about))
    part = np.asarray(corpus.keys[:, 0]) % share
    for chosen in range(share):
        rows = np.flatnonzero(part == chosen)
        if 1 < len(rows) <= 2 * about:
            return [int(row) for row in rows]
    return []


def for_process(indices: IntArray, rank: int, world: int) -> IntArray:
    """The share of a batch that process `rank` of `world` takes: contiguous, and as large as the others'."""
    share, rest = divmod(len(indices), world)
    if rest:
        raise IsotropeError(
            f"a batch of {len(indices)} can't be shared equally by {world} processes: "
            f"make training.batch_size a multiple of {world}, with training.drop_last on"
        )
    return indices[rank * share : (rank + 1) * share]


def _check_size(corpus: Corpus, batch_size: int, held_out: int) -> None:
    kind, rows = kind_of(corpus.columns), len(corpus) - held_out
    if corpus.counts.distinct < 2:
        raise IsotropeError(f"{corpus} has one distinct sentence only: contrastive learning needs two; give more text")
    if rows < batch_size:
        raise IsotropeError(
            f"{corpus} has {rows} {kind}, batch_size is {batch_size}: "
            f"give more text or --set training.batch_size={rows}"
        )


def _check_room(folder: Path, batches: float, batch_size: int) -> None:
    """The plan is on disk: one of more batches than fit there would take days before it failed."""
    if batches * batch_size * 8 > disk_usage(folder).free:
        raise IsotropeError(
            f"{folder}: no room for the plan of {batches:,.0f} batches; fewer steps or epochs, or a larger disk"
        )


def _steps_left(steps: int | None, epochs: float | None, planned: int, epoch: int, per_epoch: int) -> int | None:
    """How many steps of this epoch are wanted; None: all that it has."""
    if steps is not None:
        return steps - planned
    share = (1 if epochs is None else epochs) - epoch
    if share >= 1:
        return None
    return max(int(epoch == 0), round(share * per_epoch)) if share > 0 else 0


def _first(most: int | None, blocks: Iterator[IntArray]) -> Iterator[IntArray]:
    """The blocks up to `most` batches."""
    for block in blocks:
        yield block[:most]
        if most is not None:
            most -= len(block)
            if most <= 0:
                return


def _epoch(
    corpus: Corpus, batch_size: int, seed: int, epoch: int, drop_last: bool, held_out: Sequence[int]
) -> Iterator[IntArray]:
    """The batches of one pass over the corpus, in blocks (some, batch_size)."""
    batches = _Batches(corpus.keys, batch_size)
    for start in range(0, len(corpus), CHUNK_ROWS):
        stop = min(start + CHUNK_ROWS, len(corpus))
        rows = permuted(start, stop, len(corpus), seed, epoch)
        yield from batches.put(rows[~np.isin(rows, held_out)] if len(held_out) else rows)
    yield from batches.rest(drop_last)


def _drawn(rows: int, held_out: Sequence[int], few: int, seed: int) -> IntArray:
    """`few` rows that are not held out."""
    free = np.setdiff1d(np.arange(rows), held_out)
    if few > len(free):
        raise IsotropeError(f"training.few_shot {few}: there are {len(free)} rows to draw from")
    chosen: IntArray = np.random.default_rng(seed).choice(free, few, replace=False)
    return chosen


def _repeated(
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
