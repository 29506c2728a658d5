"""Batch k of a run: rows of the corpus, tokenised and laid out for student and guide."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import torch
from torch.utils.data import Dataset

from isotrope.encoders import Encoder
from isotrope.encoders.packing import Batch
from isotrope.recipes.schema import Stage
from isotrope.text.corpus import Corpus
from isotrope.text.plan import Plan, for_process
from isotrope.training.frozen import FrozenVectors
from isotrope.training.teacher_cache import VectorCache

Item: TypeAlias = dict[str, Any]  # batches and tensors: keyword arguments of the learner
TokenIds: TypeAlias = Callable[[Encoder, str], list[list[int]]]  # of a column's sentences, as an encoder reads them


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
        taught: VectorCache | None = None,
        frozen: FrozenVectors | None = None,
        rank: int = 0,
        world: int = 1,
    ) -> None:
        self.corpus, self.plan, self.stage = corpus, plan, stage
        self.student, self.reader, self.taught, self.frozen = student, reader, taught, frozen
        self.rank, self.world = rank, world

    def __len__(self) -> int:
        """Those that make whole steps: what would be less than one at the end, under accumulation, is left out."""
        return max(len(self.plan) - len(self.plan) % self.stage.training.gradient_accumulation, 1)

    def __getitem__(self, k: int) -> Item:
        rows = for_process(self.plan[k], self.rank, self.world)
        return self.item(rows.tolist(), torch.Generator().manual_seed(self.stage.training.seed * 1_000_003 + k))

    def item(self, rows: list[int], generator: torch.Generator) -> Item:
        """The named rows as keyword arguments of the learner."""
        texts, longest = self.corpus.rows(rows), self.stage.training.max_length
        item = laid_out(
            self.stage, self.student, self.reader, lambda encoder, column: encoder.tokenize(texts[column], longest)
        )
        if self.stage.supervision.labels:
            item["labels"] = torch.tensor(texts[self.stage.supervision.labels])
        if self.taught is not None:
            item["taught"] = self.taught[rows]
        if self.frozen is not None:
            item["frozen"] = self.frozen.of(dict.fromkeys(("first", "second", "negative"), rows))
        return self.stage.objective.prepare(item, self.student.tokenizer, generator)


def laid_out(stage: Stage, student: Encoder, reader: Encoder, ids: TokenIds) -> Item:
    """The texts that a stage reads, each laid out for the one who reads it; `reader` has the guide's tokenizer."""

    def batch(encoder: Encoder, *columns: str) -> Batch:
        return encoder.lay_out([one for column in columns for one in ids(encoder, column)])

    item: Item = {}
    readers = {"first": student, "second": reader}
    made: dict[Any, Batch] = {}  # where both views read the same text in the same way, they share a batch
    for name in stage.objective.reads:
        columns = getattr(stage.views, name).columns
        key = id(readers[name]), columns
        item[name] = made[key] = made[key] if key in made else batch(readers[name], *columns)
    if stage.views.negative:
        item["negative"] = batch(reader, stage.views.negative)
    return item | {name: batch(student, column) for name, column in stage.supervision.texts.items()}
