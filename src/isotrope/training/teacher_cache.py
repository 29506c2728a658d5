"""Vectors of a frozen encoder on disk: computed once, read at every epoch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from isotrope.encoders import Encoder
from isotrope.encoders.nearest import Floats
from isotrope.io.atomic import whole_or_nothing
from isotrope.io.progress import progress
from isotrope.text.corpus import Corpus


class VectorCache:
    """One vector for each row of the corpus, memory-mapped. Interrupted, it goes on where it was."""

    def __init__(self, folder: Path, rows: int, dim: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._file, self._done = folder / "vectors.npy", folder / "done"
        if not self._done.is_file():
            np.lib.format.open_memmap(self._file, mode="w+", dtype=np.float32, shape=(rows, dim))
            self._mark(0)
        self.vectors: np.memmap[tuple[int, int], np.dtype[np.float32]] = np.load(self._file, mmap_mode="r")

    def fill(
        self, corpus: Corpus, column: str, teacher: Encoder, batch_size: int, max_length: int | None = None
    ) -> None:
        """Encodes what is not there yet, cut at `max_length` as the batches are."""
        starts = range(int(self._done.read_text()), len(corpus), batch_size)
        with self._file.open("r+b") as file:  # not through the map: there a full disk is the end of the process
            for start in progress(starts, "Encoding for training", shown=True):
                vectors = encoded(corpus, column, range(start, start + batch_size), teacher, max_length)
                file.seek(self.vectors.offset + self.vectors.strides[0] * start)
                file.write(vectors.tobytes())
                file.flush()
                self._mark(start + len(vectors))

    def __getitem__(self, rows: Sequence[int]) -> Tensor:
        """(rows, dim)."""
        return torch.from_numpy(np.ascontiguousarray(self.vectors[rows]))

    def _mark(self, done: int) -> None:
        with whole_or_nothing(self._done) as path:
            path.write_text(str(done))


@torch.no_grad()
def encoded(corpus: Corpus, column: str, rows: range, encoder: Encoder, max_length: int | None) -> Floats:
    """What an encoder makes of some rows, those that there are, (rows, dim); cut at `max_length` as the batches are."""
    texts = corpus.rows(rows[: len(corpus) - rows.start])[column]
    batch = encoder.lay_out(encoder.tokenize(texts, max_length)).to(encoder.device)
    vectors: Floats = encoder(batch).float().cpu().numpy()
    return vectors
