"""Rankings as tasks: texts that find their class, pairs that mean the same, queries that find their documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from isotrope.evaluation.correlation import similarities_of
from isotrope.evaluation.data.own import Judgements
from isotrope.evaluation.data.pairs import Pairs
from isotrope.evaluation.ranking import Floats, Ints, average_precision, average_precisions, ndcg, places
from isotrope.evaluation.results.listings import MOST, Listing, of_each_class, worst_pairs
from isotrope.evaluation.results.resampling import Sample
from isotrope.evaluation.tasks.base import BATCH_SIZE, Figure, Outcome, Task, TaskSpec
from isotrope.evaluation.vectors import Vectors
from isotrope.io.errors import IsotropeError

AT = 10  # documents that are looked at


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
            (of_each_class(self._by_class(found)),),
        )

    def _by_class(self, precisions: Floats) -> dict[str, Floats]:
        """The precisions of the texts that are not the only one of their class, class by class."""
        count = Counter(self.classes)
        classes = np.array([one for one in self.classes if count[one] > 1])
        return {name: precisions[classes == name] for name in dict.fromkeys(classes.tolist())}


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
            (worst_pairs(self.pairs, similarities),),
        )


class DocumentsTask(Task):
    """Whether queries find their documents among all documents: nDCG, recall and MRR by cosine."""

    def __init__(self, spec: TaskSpec, judged: Judgements) -> None:
        items = f"{len(judged.queries):,} queries, {len(judged.documents):,} documents"
        super().__init__(spec, items, [*judged.queries, *judged.documents])
        self.judged = judged
        if len(judged.documents) < 2:
            raise IsotropeError(f"{self.name}: one document in all; there is nothing to rank")

    def measure(self, vectors: Vectors, batch_size: int = BATCH_SIZE) -> Outcome:
        """Queries are resampled."""
        queries = vectors.encode(self.judged.queries, batch_size=batch_size)
        documents = vectors.encode(self.judged.documents, batch_size=batch_size)
        found = places(queries, documents, [list(one) for one in self.judged.relevance])
        gains = [list(one.values()) for one in self.judged.relevance]
        figures = {
            f"ndcg_at_{AT}": np.array([ndcg(*one, AT) for one in zip(found, gains, strict=True)]),
            f"recall_at_{AT}": np.array([np.mean(one <= AT) for one in found]),
            "mrr": np.array([1 / one.min() for one in found]),
        }
        counts = {"queries": len(queries), "documents": len(documents)}
        return Outcome(
            {name: Figure(100 * float(one.mean()), (Sample("mean", one),)) for name, one in figures.items()},
            {**{name: round(100 * float(one.mean()), 2) for name, one in figures.items()}, **counts},
            (self._worst(figures[f"ndcg_at_{AT}"], found),),
        )

    def _worst(self, scores: Floats, found: Sequence[Ints]) -> Listing:
        order = np.argsort(scores, kind="stable")[:MOST]
        wanted = [self.judged.documents[next(iter(one))] for one in self.judged.relevance]
        rows = [
            (round(100 * float(scores[i]), 2), int(found[i].min()), self.judged.queries[i], wanted[i]) for i in order
        ]
        return Listing("queries, the worst first", ("nDCG", "best place", "query", "a relevant document"), rows)
