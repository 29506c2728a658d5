"""Batch k of a run: rows of the corpus, tokenised and laid out for student and guide."""

from __future__ import annotations

from typing import Any

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
        texts, stage = self.corpus.rows(rows), self.stage
        item: Item = {}
        if stage.objective.kind != "none":
            item["first"] = self._laid_out(self.student, texts, stage.views.first.column)
            same = stage.views.second.column == stage.views.first.column and self.reader is self.student
            item["second"] = item["first"] if same else self._laid_out(self.reader, texts, stage.views.second.column)
        if stage.views.negative:
            item["negative"] = self._laid_out(self.student, texts, stage.views.negative)
        if stage.supervision.kind == "nli":
            item["premise"] = self._laid_out(self.student, texts, "sentence1")
            item["hypothesis"] = self._laid_out(self.student, texts, "sentence2")
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

    def _laid_out(self, encoder: Encoder, texts: dict[str, list[Any]], column: str | tuple[str, ...]) -> Batch:
        names = (column,) if isinstance(column, str) else column
        sentences = [text for name in names for text in texts[name]]
        return encoder.lay_out(encoder.tokenize(sentences, self.stage.training.max_length))
