"""Vectors of a frozen teacher on disk: computed once, read at every epoch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from isotrope.encoders import Encoder
from isotrope.encoders.progress import progress
from isotrope.text.corpus import Corpus

BLOCK = 2048  # rows between two marks of what is done


class VectorCache:
    """One vector for each row of the corpus, memory-mapped. Interrupted, it goes on where it was."""

    def __init__(self, folder: Path, rows: int, dim: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._done = folder / "done"
        file = folder / "vectors.npy"
        if file.is_file() and self._done.is_file():
            self.vectors = np.lib.format.open_memmap(file, mode="r+")
        else:
            self.vectors = np.lib.format.open_memmap(file, mode="w+", dtype=np.float32, shape=(rows, dim))
            self._done.write_text("0")

    def fill(self, corpus: Corpus, column: str, teacher: Encoder, batch_size: int) -> None:
        """Encodes what is not there yet."""
        begin = int(self._done.read_text())
        starts = range(begin, len(corpus), BLOCK)
        for start in progress(starts, "Encoding with the teacher", shown=True):
            rows = range(start, min(start + BLOCK, len(corpus)))
            self.vectors[rows.start : rows.stop] = teacher.encode(
                corpus.rows(list(rows))[column], batch_size=batch_size
            )
            self.vectors.flush()
            self._done.write_text(str(rows.stop))

    def __getitem__(self, rows: Sequence[int]) -> Tensor:
        """(rows, dim)."""
        return torch.from_numpy(np.ascontiguousarray(self.vectors[rows]))
