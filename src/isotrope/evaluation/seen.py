"""Which test sentences an encoder has met in training. The papers train on the test sentences, without their labels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from isotrope.text.arrays import open_table
from isotrope.text.corpus import KEYS
from isotrope.text.hashes import hash_texts

ROWS_AT_ONCE = 2**20


def count_seen(sentences: Iterable[str], corpora: Sequence[Path]) -> int:
    """How many of the distinct sentences stand, letter for letter, in any of the corpora of training runs."""
    wanted = np.unique(hash_texts([text.strip() for text in sentences]).view(np.int64))  # the keys of a corpus
    seen = np.zeros(len(wanted), dtype=bool)
    for folder in corpora:
        keys = open_table(folder / KEYS)  # (rows, text columns)
        for start in range(0, len(keys), ROWS_AT_ONCE):
            seen |= np.isin(wanted, keys[start : start + ROWS_AT_ONCE])
    return int(seen.sum())
