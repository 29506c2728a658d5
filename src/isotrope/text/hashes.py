"""Which texts have been seen before, by 64-bit hashes: some 10 bytes a text, for corpora of any size.

Two different texts have the same hash once in 2^64: among 50 million it is a chance of 1 in 15,000 that one is lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from isotrope.io.hashes import digest

Hashes = np.ndarray[Any, np.dtype[np.uint64]]
Flags = np.ndarray[Any, np.dtype[np.bool_]]
FULL = 0.75  # of the slots, at most: 50 million hashes are in 2^26 slots, 0.5 GB (0.8 GB for a moment, while it grows)
FEWEST_SLOTS = 2**16
SEPARATOR = "\0"


def hash_texts(*columns: Sequence[str]) -> Hashes:
    """A hash of each row of the columns, (rows,)."""
    rows = (SEPARATOR.join(row).encode("utf-8", "surrogatepass") for row in zip(*columns, strict=True))
    return np.frombuffer(b"".join(digest(row, 8) for row in rows), dtype="<u8").astype(np.uint64)


class HashSet:
    """A set of 64-bit hashes in one array of slots: open addressing, many at a time."""

    def __init__(self) -> None:
        self._slots: Hashes = np.zeros(FEWEST_SLOTS, dtype=np.uint64)  # 0 is an empty one
        self._size = 0

    def __len__(self) -> int:
        return self._size

    @property
    def nbytes(self) -> int:
        """Memory that the slots take."""
        return self._slots.nbytes

    def add(self, hashes: Hashes) -> Flags:
        """Adds (rows,); tells which rows were not there, neither before nor earlier among them, (rows,)."""
        distinct, first = np.unique(np.maximum(hashes, 1), return_index=True)
        while self._size + len(distinct) > FULL * len(self._slots):
            before, self._slots = self._slots, np.zeros(2 * len(self._slots), dtype=np.uint64)
            for start in range(0, len(before), FEWEST_SLOTS):
                block = before[start : start + FEWEST_SLOTS]
                self._insert(block[block > 0])
        added = self._insert(distinct)
        self._size += int(np.count_nonzero(added))
        new: Flags = np.zeros(len(hashes), dtype=np.bool_)
        new[first[added]] = True
        return new

    def _insert(self, hashes: Hashes) -> Flags:
        """Puts different hashes, none of them 0, where they are not yet; tells for which that was so."""
        added: Flags = np.zeros(len(hashes), dtype=np.bool_)
        waiting = np.arange(len(hashes))
        mask = np.uint64(len(self._slots) - 1)
        place = hashes & mask
        step = np.uint64(0)
        while len(waiting):
            wanted = hashes[waiting]
            empty = self._slots[place] == 0
            self._slots[place[empty]] = wanted[empty]  # of several for one slot, one gets it
            there = self._slots[place] == wanted
            added[waiting[there & empty]] = True
            waiting, place = waiting[~there], place[~there]
            step += np.uint64(1)
            place = (place + step) & mask  # 1, 3, 6, 10 ... from the first: through all slots
        return added
