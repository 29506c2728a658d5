"""Graded pairs as a task: the correlation of cosines with the grades."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import numpy as np

from isotrope.evaluation.correlation import check_gold, correlations, similarities_of
from isotrope.evaluation.data.pairs import Pairs, PairSource, load_source
from isotrope.evaluation.results.listings import worst_pairs
from isotrope.evaluation.results.resampling import Sample
from isotrope.evaluation.tasks.base import BATCH_SIZE, Figure, Outcome, PartedSpec, Task, TaskSpec
from isotrope.evaluation.vectors import Vectors


class GradedSpec(PartedSpec):
    """Graded pairs; a task says where its own lie. Its parts are its subtasks."""

    split: str | None = None

    source: ClassVar[PairSource]
    metrics: ClassVar[tuple[str, ...]] = ("spearman",)

    def load_pairs(self, data: Path | None = None) -> Pairs:
        """The pairs of the split, or of one subtask in it."""
        return load_source(self.source, self.part, data=data, split=self.split)

    def open(self, data: Path | None = None) -> Task:
        """The pairs, which must have grades that can be correlated."""
        return GradedTask(self, self.load_pairs(data), self.split or self.source.split)


class GradedTask(Task):
    """Graded pairs, by Spearman's and Pearson's correlation."""

    def __init__(self, spec: TaskSpec, pairs: Pairs, split: str | None, name: str = "") -> None:
        super().__init__(spec, f"{len(pairs.scores):,} pairs", pairs.sentences, name)
        self.spec, self.pairs, self.split = spec, pairs, split
        check_pairs(pairs, self.name)

    def measure(self, vectors: Vectors, batch_size: int = BATCH_SIZE) -> Outcome:
        """Over all pairs together, as in paper 2."""
        similarities, gold = similarities_of(vectors, self.pairs, batch_size=batch_size), np.array(self.pairs.scores)
        found = correlations(self.pairs, similarities, split=self.split or "")
        return Outcome(
            {
                "spearman": Figure(found.spearman["all"], (Sample("spearman", similarities, gold),)),
                "pearson": Figure(found.pearson["all"], (Sample("pearson", similarities, gold),)),
            },
            found.as_json(),
            (worst_pairs(self.pairs, similarities),),
        )

    def parts(self) -> list[Task]:
        """A task for each subtask."""
        names = dict.fromkeys(self.pairs.subtask)
        return [GradedTask(self.spec, self.pairs.only(part), self.split, f"{self.name}:{part}") for part in names]


def check_pairs(pairs: Pairs, name: str) -> None:
    """Refuses grades that nothing can be correlated with, before an encoder is loaded."""
    gold, subtask = np.array(pairs.scores), np.array(pairs.subtask)
    for part in dict.fromkeys(pairs.subtask):
        check_gold(gold[subtask == part], name if name.endswith(part) else f"{name}: {part}")
