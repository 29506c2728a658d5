"""What frozen encoders make of the text: computed once for each column, kept on disk, looked up for every batch.

So a step that needs their vectors costs no further pass. "start" is the encoder that the stage starts from, as saved.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import torch
from torch import Tensor

from isotrope.encoders import Encoder, load
from isotrope.io.hashes import digest
from isotrope.recipes.schema import Stage
from isotrope.text.corpus import Corpus
from isotrope.training.checkpoints import writing
from isotrope.training.processes import is_main_process, main_process_first
from isotrope.training.teacher_cache import VectorCache

START = "start"
FOLDER = "frozen"  # in the stage's folder


class FrozenEncoders:
    """Encoders by name, loaded when first asked for. `start` must not have learnt anything yet."""

    def __init__(self, start: Encoder) -> None:
        self._loaded = {START: start}

    def __getitem__(self, name: str) -> Encoder:
        if name not in self._loaded:
            self._loaded[name] = load(name, device=str(self._loaded[START].device))
        return self._loaded[name].eval()

    def dims(self, names: Iterable[str]) -> dict[str, int]:
        """How wide the vectors of each are."""
        return {name: self[name].dim for name in names}


class Frozen(dict[tuple[str, str], Tensor]):
    """Of one batch: (encoder, `first`, `second` or `negative`) -> its vectors of those texts, (n, dim)."""

    def to(self, device: torch.device | str) -> Frozen:
        """All of them on a device."""
        return Frozen({key: vectors.to(device) for key, vectors in self.items()})


class FrozenVectors:
    """The vectors of all rows that a stage looks up, from disk."""

    def __init__(self, stage: Stage, corpus: Corpus, encoders: FrozenEncoders, folder: Path) -> None:
        self.stage = stage
        texts = {(name, column): None for name, side in stage.frozen for column in stage.columns_of(side)}
        self.tables = {
            (name, column): vectors_on_disk(folder / FOLDER / _folder_name(name, column), corpus, column, one, stage)
            for name, column in texts
            for one in [encoders[name]]
        }

    def of(self, rows: Callable[[str, str], Sequence[int]]) -> Frozen:
        """Vectors of a batch; `rows` says which rows the texts of a side and a column are from."""
        return Frozen(
            {
                (name, side): torch.cat([self.tables[name, column][rows(side, column)] for column in columns])
                for name, side in self.stage.frozen
                for columns in [self.stage.columns_of(side)]
            }
        )


def vectors_on_disk(folder: Path, corpus: Corpus, column: str, encoder: Encoder, stage: Stage) -> VectorCache:
    """An encoder's vectors of a column, as long as the batches are cut; the first process makes what is missing."""
    with main_process_first():
        cached = VectorCache(folder, len(corpus), encoder.dim)
        if is_main_process():
            with writing(folder):
                cached.fill(corpus, column, encoder, stage.training.batch_size, stage.training.max_length)
    return cached


def _folder_name(name: str, column: str) -> str:
    """`start-text`; a digest keeps apart what differs in characters that no file name may have."""
    plain = re.sub(r"[^\w.]+", "-", f"{name}-{column}")[-80:]
    return plain if plain == f"{name}-{column}" else f"{plain}-{digest(f'{name} {column}', 4).hex()}"
