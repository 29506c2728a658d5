"""What frozen encoders make of the text: computed once for each column, kept on disk, looked up for every batch.

So a step that needs their vectors costs no further pass. "start" is the encoder that the stage starts from, as saved.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from torch import Tensor

from isotrope.encoders import Encoder, load
from isotrope.encoders.frozen import START, FrozenModel
from isotrope.encoders.precision import encoding_in
from isotrope.io.hashes import digest
from isotrope.recipes.schema import Stage
from isotrope.text.corpus import Corpus
from isotrope.training.checkpoints import writing
from isotrope.training.processes import is_main_process, main_process_first
from isotrope.training.run_folder import FROZEN
from isotrope.training.teacher_cache import VectorCache


class FrozenEncoders:
    """Encoders by name, loaded when first asked for. `start` must not have learnt anything yet."""

    def __init__(self, start: Encoder) -> None:
        self._loaded = {FrozenModel(START): start}
        self._device = str(start.device)

    def __getitem__(self, model: FrozenModel) -> Encoder:
        if model not in self._loaded:
            self._loaded[model] = load(model.name, pooling=model.pooling, device=self._device)
        return self._loaded[model].eval()

    def dims(self, stage: Stage) -> dict[FrozenModel, int]:
        """How wide the vectors of each are that a stage reads."""
        return {model: self[model].dim for model, _ in stage.frozen}


class Frozen(dict[tuple[FrozenModel, str], Tensor]):
    """Of one batch: (encoder, `first`, `second` or `negative`) -> its vectors of those texts, (n, dim)."""

    def to(self, device: torch.device | str) -> Frozen:
        """All of them on a device."""
        return Frozen({key: vectors.to(device) for key, vectors in self.items()})


class FrozenVectors:
    """The vectors of all rows that a stage looks up, from disk."""

    def __init__(self, stage: Stage, corpus: Corpus, encoders: FrozenEncoders, folder: Path) -> None:
        self.stage = stage
        texts = {(model, column): None for model, side in stage.frozen for column in stage.columns_of(side)}
        self.tables = {
            (model, column): vectors_of_column(stage, corpus, column, encoders, model, folder)
            for model, column in texts
        }

    def of(self, rows: Callable[[str, str], Sequence[int]]) -> Frozen:
        """Vectors of a batch; `rows` says which rows the texts of a side and a column are from."""
        return Frozen(
            {
                (model, side): torch.cat([self.tables[model, column][rows(side, column)] for column in columns])
                for model, side in self.stage.frozen
                for columns in [self.stage.columns_of(side)]
            }
        )


def vectors_of_column(
    stage: Stage, corpus: Corpus, column: str, encoders: FrozenEncoders, model: FrozenModel, folder: Path
) -> VectorCache:
    """What a frozen encoder makes of a column, in the stage's folder: whoever needs it reads the same file."""
    return vectors_on_disk(folder / FROZEN / _name(model, column), corpus, column, encoders[model], stage)


def vectors_on_disk(folder: Path, corpus: Corpus, column: str, encoder: Encoder, stage: Stage) -> VectorCache:
    """An encoder's vectors of a column, as the stage reads and computes; the first process makes what is missing."""
    with main_process_first():
        cached = VectorCache(folder, len(corpus), encoder.dim)
        if is_main_process():
            with writing(folder), encoding_in(stage.training.precision, encoder):
                cached.fill(corpus, column, encoder, stage.training.batch_size, stage.training.max_length)
    return cached


def _name(model: FrozenModel, column: str) -> str:
    """`start-text`; a digest keeps apart what differs in characters that no file name may have."""
    spelt = "-".join([*filter(None, model), column])
    plain = re.sub(r"[^\w.]+", "-", spelt)[-80:]
    return plain if plain == spelt else f"{plain}-{digest(repr((*model, column)), 4).hex()}"
