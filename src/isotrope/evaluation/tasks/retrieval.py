"""Average precision as a task: of texts with a class each, and of pairs that mean the same or do not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from isotrope.evaluation.correlation import similarities_of
from isotrope.evaluation.data.pairs import Pairs
from isotrope.evaluation.ranking import average_precision, average_precisions
from isotrope.evaluation.results.resampling import Sample
from isotrope.evaluation.tasks.base import BATCH_SIZE, Figure, Outcome, Task, TaskSpec
from isotrope.evaluation.vectors import Vectors
from isotrope.io.errors import IsotropeError


class ClassesTask(Task):
    """Whether texts of the same class find each other: mean average precision by cosine, among all texts."""

    def __init__(self, spec: TaskSpec, texts: Sequence[str], classes: Sequence[str], split: str | None = None) -> None:
        super().__init__(spec, f"{len(texts):,} texts", texts)
        self.texts, self.classes, self.split = list(texts), list(classes), split
        found = Counter(classes)
        if len(found) < 2 or max(found.values()) < 2:
            raise IsotropeError(
                f"{self.name}: {len(texts)} texts of {len(found)} classes; two classes or more are needed, and two "
                "texts of one class"
            )

    def measure(self, vectors: Vectors, batch_size: int = BATCH_SIZE) -> Outcome:
        """Texts are resampled as queries, among the same others."""
        encoded = vectors.encode(self.texts, batch_size=batch_size)
        found = average_precisions(encoded, self.classes)
        value = 100 * float(found.mean())
        counts = {"texts": len(self.texts), "classes": len(set(self.classes))}
        return Outcome(
            {"mean_average_precision": Figure(value, (Sample("mean", found),))},
            {"mean_average_precision": round(value, 2), **counts},
        )


class SamePairsTask(Task):
    """Whether pairs that mean the same (gold 1) are more similar than those that do not (0): average precision."""

    def __init__(self, spec: TaskSpec, pairs: Pairs, split: str | None = None) -> None:
        super().__init__(spec, f"{len(pairs.scores):,} pairs", pairs.sentences)
        self.pairs, self.split = pairs, split
        if set(pairs.scores) != {0.0, 1.0}:
            grades = ", ".join(f"{grade:g}" for grade in sorted(set(pairs.scores))[:5])
            raise IsotropeError(f"{self.name}: scores {grades}; pairs of both 0 and 1 are needed, and no others")

    def measure(self, vectors: Vectors, batch_size: int = BATCH_SIZE) -> Outcome:
        """By cosine."""
        similarities, gold = similarities_of(vectors, self.pairs, batch_size=batch_size), np.array(self.pairs.scores)
        if not np.isfinite(similarities).all():
            raise IsotropeError(f"{self.name}: the encoder gives vectors that are not numbers; they have no cosine")
        value = 100 * average_precision(similarities, gold)
        return Outcome(
            {"average_precision": Figure(value, (Sample("average_precision", similarities, gold),))},
            {"average_precision": round(value, 2), "pairs": len(gold)},
        )
