"""Batch k of a run: rows of the corpus, tokenised and laid out for student and guide."""

from __future__ import annotations

from typing import Any, TypeAlias

import torch
from torch.utils.data import Dataset

from isotrope.encoders import Encoder
from isotrope.encoders.packing import Batch
from isotrope.recipes.schema import Stage
from isotrope.text.corpus import Corpus
from isotrope.text.plan import Plan, for_process
from isotrope.training.frozen import FrozenVectors
from isotrope.training.reading import Draws, Reading, TokenIds
from isotrope.training.teacher_cache import VectorCache

Item: TypeAlias = dict[str, Any]  # batches and tensors: keyword arguments of the learner


class StageBatches(Dataset[Item]):
    """Item k depends on the corpus, the plan and k alone, so a resumed run sees what the uninterrupted one would have.

    With several processes each takes its own share of every batch.
    """

    def __init__(
        self,
        corpus: Corpus,
        plan: Plan,
        stage: Stage,
        student: Encoder,
        reader: Encoder,
        *,
        draws: Draws | None = None,
        taught: VectorCache | None = None,
        frozen: FrozenVectors | None = None,
        rank: int = 0,
        world: int = 1,
    ) -> None:
        self.corpus, self.plan, self.stage = corpus, plan, stage
        self.student, self.reader, self.draws = student, reader, draws or {}
        self.taught, self.frozen = taught, frozen
        self.rank, self.world = rank, world

    def __len__(self) -> int:
        """Those that make whole steps: what would be less than one at the end, under accumulation, is left out."""
        return max(len(self.plan) - len(self.plan) % self.stage.training.gradient_accumulation, 1)

    def __getitem__(self, k: int) -> Item:
        for draw in self.draws.values():
            draw.at(k // self.stage.training.gradient_accumulation)
        rows = for_process(self.plan[k], self.rank, self.world)
        return self.item(rows.tolist(), torch.Generator().manual_seed(self.stage.training.seed * 1_000_003 + k))

    def item(self, rows: list[int], generator: torch.Generator) -> Item:
        """The named rows as keyword arguments of the learner."""
        reading, longest = Reading(self.corpus, rows, self.draws, generator), self.stage.training.max_length

        def ids(encoder: Encoder, view: str, column: str) -> list[list[int]]:
            return reading.ids(encoder, view, column, longest)

        item = laid_out(self.stage, self.student, self.reader, ids)
        if self.stage.supervision.labels:
            item["labels"] = torch.tensor(reading.texts[self.stage.supervision.labels])
        if self.taught is not None:
            item["taught"] = self.taught[reading.rows("second", *self.stage.views.second.columns)]
        if self.frozen is not None:
            item["frozen"] = self.frozen.of(reading.rows)
        return self.stage.objective.prepare(item, self.student.tokenizer, generator)


def laid_out(stage: Stage, student: Encoder, reader: Encoder, ids: TokenIds) -> Item:
    """The texts that a stage reads, each laid out for the one who reads it; `reader` has the guide's tokenizer."""

    def batch(encoder: Encoder, place: str, *columns: str) -> Batch:
        texts = [one for column in columns for one in ids(encoder, place, column)]
        return encoder.lay_out(texts, coarse=stage.training.precision == "bfloat16")

    item: Item = {}
    readers = {"first": student, "second": reader}
    made: dict[Any, Batch] = {}  # where both views read the same text in the same way, they share a batch
    for name in stage.objective.reads:
        view = getattr(stage.views, name)
        key = id(readers[name]), view.columns, "" if view.draw.fixed else name
        item[name] = made[key] = made[key] if key in made else batch(readers[name], name, *view.columns)
    if stage.distillation.models and not stage.compares:  # an objective may alter what it reads: this stays as it is
        item["plain"] = batch(student, "first", *stage.views.first.columns)
    if stage.views.negative:
        item["negative"] = batch(reader, "negative", stage.views.negative)
    return item | {name: batch(student, name, column) for name, column in stage.supervision.texts.items()}
