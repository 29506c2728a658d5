"""Which rows make batch k of a run: a random order for every epoch, and no text twice in one batch.

Nothing is written: batches are put together when they are asked for, one stretch of an epoch at a time, so a plan of a
billion steps is made at once. What batch k is depends on the text, the seed and k alone, whoever asks.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from isotrope.io.errors import IsotropeError
from isotrope.text.arrays import IntArray
from isotrope.text.corpus import Corpus
from isotrope.text.epochs import ABSENT, drawn_rows, one_epoch, repeated_rows
from isotrope.text.sources import kind_of


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
) -> Plan:
    """Plans `steps` batches, or those of `epochs` (one, if neither is said).

    The same corpus, batch size and seed give the same plan. A row that has a text in common with one of its batch waits
    for the next batch. With `drop_last`, what fills no whole batch at the end of an epoch is left out; otherwise it
    comes in smaller batches. Rows in `held_out` never come. Only `few` of the others do if it is said, drawn by the
    seed; each comes so often that an epoch is about as long as with all, and so may be in a batch several times.
    """
    _check_size(corpus, batch_size, len(held_out))
    order = Order(corpus, batch_size, seed, drop_last, tuple(held_out), few)
    if not any(len(block) for block in order.blocks(0)):
        raise IsotropeError(
            f"{corpus}: no {batch_size} of its {len(corpus)} {kind_of(corpus.columns)} are all different "
            f"(distinct: {corpus.counts.distinct}): give more text or a smaller training.batch_size"
        )
    return Plan(order, steps if steps is not None else order.length_of(1 if epochs is None else epochs))


class Plan:
    """The row numbers of every batch of a run."""

    def __init__(self, order: Order, length: int) -> None:
        self.order, self._length = order, length
        self._reading, self._counting = _Place(order), _Place(order)  # of which two threads may use one each

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, k: int) -> IntArray:
        """Row numbers of batch k; quick if k is the next one, or not far behind the last."""
        if not 0 <= k < self._length:
            raise IndexError(k)
        rows = self._reading.batch(k)
        present: IntArray = rows[rows != ABSENT]
        return present

    def __reduce__(self) -> tuple[type[Plan], tuple[Order, int]]:
        """Another process begins by itself."""
        return Plan, (self.order, self._length)

    def epoch_of(self, k: int) -> int:
        """The epoch, from 0, that batch k belongs to."""
        return self._counting.epoch_of(k)


@dataclass(frozen=True)
class Order:
    """What decides which rows come when."""

    corpus: Corpus
    batch_size: int
    seed: int
    drop_last: bool
    held_out: tuple[int, ...]
    few: int | None

    def blocks(self, epoch: int) -> Iterator[IntArray]:
        """The batches of an epoch, in blocks (some, batch_size)."""
        if self.few is None:
            return one_epoch(self.corpus, self.batch_size, self.seed, epoch, self.drop_last, self.held_out)
        chosen = drawn_rows(len(self.corpus), self.held_out, self.few, self.seed)
        return repeated_rows(chosen, self._rows, self.batch_size, self.seed, epoch, self.drop_last)

    @cached_property
    def even(self) -> int | None:
        """How many batches every epoch has; None where that differs by what repeated texts shift."""
        if self.few is not None:
            return self._filled(max(1, self._rows // self.few) * self.few)
        one_text = self.corpus.keys.shape[1] == 1
        return self._filled(self._rows) if one_text and self.corpus.counts.distinct == len(self.corpus) else None

    def length_of(self, epochs: float) -> int:
        """How many batches some epochs have; at least one."""
        whole = int(epochs)
        found = [self._batches(epoch) for epoch in range(whole)] if self.even is None else [self.even] * whole
        if not epochs % 1:
            return sum(found)
        part = round(epochs % 1 * (found[0] if found else self._filled(self._rows)))
        return sum(found) + min(max(int(not found), part), self._batches(whole))

    def _batches(self, epoch: int) -> int:
        return self.even or sum(len(block) for block in self.blocks(epoch))

    @property
    def _rows(self) -> int:
        return len(self.corpus) - len(self.held_out)

    def _filled(self, rows: int) -> int:
        return rows // self.batch_size if self.drop_last else -(-rows // self.batch_size)


class _Place:
    """Somewhere in the plan: the stretch of batches at hand, and what comes behind it."""

    block: IntArray

    def __init__(self, order: Order) -> None:
        self.order = order
        self.starts = [0]  # of the epochs so far, where they differ in length
        self._begin(0, 0)

    def batch(self, k: int) -> IntArray:
        """(batch_size,)."""
        self._go_to(k)
        found: IntArray = self.block[k - self.first]
        return found

    def epoch_of(self, k: int) -> int:
        """The epoch of batch k."""
        if not self.order.even and k >= self.starts[-1]:
            self._go_to(k)
        return self._known(k)[0]

    def _known(self, k: int) -> tuple[int, int]:
        """The epoch of batch k, as far as epochs have been counted, and where that begins."""
        if self.order.even:
            return k // self.order.even, k // self.order.even * self.order.even
        epoch = bisect_right(self.starts, k) - 1
        return epoch, self.starts[epoch]

    def _go_to(self, k: int) -> None:
        epoch, first = self._known(k)
        if epoch > self.epoch or k < self.first:
            self._begin(epoch, first)
        while k >= self.first + len(self.block):
            self.first += len(self.block)
            block = next(self.blocks, None)
            if block is None:
                self._begin(self.epoch + 1, self.first)
            else:
                self.block = block

    def _begin(self, epoch: int, first: int) -> None:
        self.epoch, self.first = epoch, first
        self.blocks = self.order.blocks(epoch)
        self.block = np.empty((0, self.order.batch_size), dtype=np.int64)
        if epoch == len(self.starts):
            self.starts.append(first)


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
