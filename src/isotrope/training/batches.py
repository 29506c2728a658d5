"""Batch k of a run: rows of the corpus, tokenised and laid out for student and guide."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import torch
from torch import Tensor
from torch.utils.data import Dataset

from isotrope.encoders import Encoder
from isotrope.encoders.packing import Batch
from isotrope.recipes.schema import Stage
from isotrope.text.corpus import Corpus
from isotrope.text.plan import Plan, for_process
from isotrope.training.masked_lm import Masker
from isotrope.training.teacher_cache import VectorCache

Item = dict[str, Batch | Tensor]
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
        rank: int = 0,
        world: int = 1,
    ) -> None:
        self.corpus, self.plan, self.stage = corpus, plan, stage
        self.student, self.reader, self.taught = student, reader, taught
        self.rank, self.world = rank, world
        masks = stage.objective.kind == "mlm"
        self.masker = Masker(student.tokenizer, stage.objective.masked) if masks else None

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
        if "premise" in item:
            item["labels"] = torch.tensor(texts["label"])
        if self.taught is not None:
            item["taught"] = self.taught[rows]
        if self.masker is not None:
            masked = item.pop("first")
            item.pop("second")
            assert isinstance(masked, Batch)
            shown, item["targets"] = self.masker(masked.input_ids, generator)
            masked.input_ids.copy_(shown)
            item["first"] = masked
        return item


def laid_out(stage: Stage, student: Encoder, reader: Encoder, ids: TokenIds) -> Item:
    """The texts that a stage reads, each laid out for the one who reads it; `reader` is the guide's tokenizer."""

    def batch(encoder: Encoder, *columns: str) -> Batch:
        return encoder.lay_out([one for column in columns for one in ids(encoder, column)])

    item: Item = {}
    first, second = stage.views.first, stage.views.second
    if stage.objective.kind != "none":
        item["first"] = batch(student, *first.columns)
        same = first.columns == second.columns and reader is student
        item["second"] = item["first"] if same else batch(reader, *second.columns)
    if stage.views.negative:
        item["negative"] = batch(student, stage.views.negative)
    if stage.supervision.kind == "nli":
        item["premise"], item["hypothesis"] = batch(student, "sentence1"), batch(student, "sentence2")
    return item
