"""A random order of any number of rows, without holding it: each place is computed when it is asked for."""

from __future__ import annotations

from typing import Any

import numpy as np

from isotrope.io.hashes import digest
from isotrope.text.arrays import IntArray

ROUNDS = 8
Bits = np.ndarray[Any, np.dtype[np.uint64]]


def permuted(start: int, stop: int, size: int, seed: int, epoch: int) -> IntArray:
    """Places `start` to `stop` of a permutation of [0, size) that belongs to the seed and the epoch.

    A Feistel network permutes the numbers of as many bits as `size` has. What falls outside [0, size) is permuted on
    until it is inside (cycle walking), which is a permutation again; it takes fewer than two goes on average.
    """
    keys = _round_keys(seed, epoch)
    bits = (size - 1).bit_length()
    places = _feistel(np.arange(start, stop, dtype=np.uint64), bits, keys)
    while (outside := np.flatnonzero(places >= size)).size:
        places[outside] = _feistel(places[outside], bits, keys)
    return places.astype(np.int64)


def _round_keys(seed: int, epoch: int) -> Bits:
    return np.frombuffer(digest(f"{seed} {epoch}", 8 * ROUNDS), dtype="<u8")


def _feistel(numbers: Bits, bits: int, keys: Bits) -> Bits:
    """A permutation of the numbers of `bits` bits: either half in turn is changed by a hash of the other half."""
    low_bits = np.uint64(bits // 2)
    low_mask, high_mask = np.uint64((1 << bits // 2) - 1), np.uint64((1 << bits - bits // 2) - 1)
    low, high = numbers & low_mask, numbers >> low_bits
    for i in range(0, ROUNDS, 2):
        low ^= _mixed(high, keys[i]) & low_mask
        high ^= _mixed(low, keys[i + 1]) & high_mask
    return high << low_bits | low


def _mixed(half: Bits, key: np.uint64) -> Bits:
    """The finaliser of splitmix64, keyed."""
    mixed = (half + np.uint64(1)) * (key | np.uint64(1))
    mixed = (mixed ^ (mixed >> np.uint64(30)) ^ key) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
