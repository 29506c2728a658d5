"""Tables of one's own as tasks: `{"kind": "pairs", "table": "graded.csv"}`, or a frame in place of the file."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from isotrope.evaluation.correlation import correlate
from isotrope.evaluation.data.own import own_name, read_own_classes, read_own_pairs, read_own_retrieval
from isotrope.evaluation.data.pairs import Pairs
from isotrope.evaluation.results.printing import many
from isotrope.evaluation.results.resampling import Sample
from isotrope.evaluation.tasks.base import BATCH_SIZE, Figure, Outcome, Task, TaskSpec
from isotrope.evaluation.tasks.graded import GradedTask
from isotrope.evaluation.tasks.retrieval import AT, ClassesTask, DocumentsTask, SamePairsTask
from isotrope.evaluation.vectors import Vectors
from isotrope.io.errors import IsotropeError, as_typed
from isotrope.text.sources import as_sources

ONLY_0_AND_1 = (
    "all scores are 0 or 1, so average precision of the pairs with 1; Spearman's correlation, which {dev} uses, "
    "ranks encoders as the area under the ROC curve does"
)
# a file, frame or list of rows; several files or frames in a list; a mapping of names to them
Tables: TypeAlias = Any


class OwnSpec(TaskSpec):
    """A table of one's own, and what it is called."""

    table: Any = None
    called: str = ""

    heading = "Your data"
    with_interval = True
    with_listings = True

    @property
    def name(self) -> str:
        """As it was called, else after the file."""
        return self.called or (self.kind if self.table is None else own_name(self.table, self.kind))

    def open(self, data: Path | None = None) -> Task:
        """The task, and how it is measured."""
        if self.table is None:
            raise IsotropeError(
                f"{self.kind}: give the table too, such as {{'kind': '{self.kind}', 'table': 'my.csv'}}"
            )
        task, how, left_out = self.read()
        left = f"; {many(left_out, 'row')} without text or score left out" if left_out else ""
        task.remark = f"{task.name}: {how}{left}"
        return task

    @abstractmethod
    def read(self) -> tuple[Task, str, int]:
        """The task, how it is measured, and how many rows were left out."""


class OwnSamePairsTask(SamePairsTask):
    """Average precision, and beside it what a development set of the same pairs goes by."""

    def measure(self, vectors: Vectors, batch_size: int = BATCH_SIZE) -> Outcome:
        """By cosine."""
        outcome = super().measure(vectors, batch_size)
        (sample,) = outcome.main.samples
        assert sample.gold is not None
        found = correlate(sample.values, sample.gold, self.name).spearman
        spearman = Figure(found, (Sample("spearman", sample.values, sample.gold),))
        as_json = {**outcome.as_json, "spearman": {"all": round(found, 2)}}
        return Outcome({**outcome.figures, "spearman": spearman}, as_json, outcome.listings)


class OwnPairs(OwnSpec):
    """Your own pairs (sentence1, sentence2, score): Spearman's correlation; for 0 and 1 also average precision."""

    kind: str = "pairs"

    def read(self) -> tuple[Task, str, int]:
        """Graded, or the same and not the same."""
        found = read_own_pairs(self.table)
        if set(found.pairs.scores) <= {0.0, 1.0}:
            return OwnSamePairsTask(self, found.pairs), ONLY_0_AND_1.format(dev=as_typed("dev=")), found.left_out
        task = GradedTask(self, found.pairs, None)
        task.metrics = ("spearman",)
        return task, "Spearman's correlation with the scores", found.left_out

    def load_pairs(self, data: Path | None = None) -> Pairs:
        """All of them."""
        return read_own_pairs(self.table).pairs


class OwnClasses(OwnSpec):
    """Your own texts with a class each (text, label): mean average precision of texts of the same class."""

    kind: str = "classes"

    def read(self) -> tuple[Task, str, int]:
        """All texts, each among all others."""
        found = read_own_classes(self.table)
        task = ClassesTask(self, found.texts, found.classes)
        return task, "mean average precision of texts of the same class", found.left_out


class OwnRetrieval(OwnSpec):
    """Your own queries (query, document, relevance): nDCG at 10 among all documents of the table."""

    kind: str = "retrieval"

    metrics = (f"ndcg_at_{AT}",)

    def read(self) -> tuple[Task, str, int]:
        """All queries that have a relevant document."""
        found = read_own_retrieval(self.table)
        return DocumentsTask(self, found), f"nDCG at {AT} of queries among all documents", found.left_out


def own_specs(kind: Callable[..., OwnSpec], tables: Tables) -> Iterator[OwnSpec]:
    """A spec for each table. A file may be named: `NAME=FILE`."""
    if tables is None:
        return
    if isinstance(tables, Mapping):
        yield from (kind(table=table, called=str(name)) for name, table in tables.items())
        return
    several = isinstance(tables, list | tuple) and tables and all(isinstance(one, str | Path) for one in tables)
    for table in tables if several else as_sources(tables):
        name, equals, file = str(table).partition("=") if isinstance(table, str) else ("", "", "")
        named = bool(equals) and not Path(str(table)).exists()
        yield kind(table=file if named else table, called=name if named else "")
