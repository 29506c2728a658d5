"""What every task has in common: its metadata and settings (`TaskSpec`), and the task with its data (`Task`)."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from isotrope.evaluation.data.labelled import LabelledSource
from isotrope.evaluation.data.pairs import Pairs, PairSource
from isotrope.evaluation.results.listings import Listing
from isotrope.evaluation.results.resampling import Sample
from isotrope.evaluation.vectors import Vectors
from isotrope.io.errors import IsotropeError
from isotrope.parts import Called, Spec

BATCH_SIZE = 64
MAIN = "score"  # the main figure of each task, whatever it is called there: for tables of tasks that differ in theirs
# Of the tables, as the papers have them; other headings come behind.
HEADINGS = (
    "STS",
    "Transfer",
    "SemEval-2014, Spanish",
    "SemEval-2017",
    "STS-B in other languages",
    "Tatoeba",
    "Argument similarity",
    "Domains",
    "Your data",
    "Bundled",
)


def heading_order(heading: str) -> int:
    """The place of a heading among the tables."""
    return HEADINGS.index(heading) if heading in HEADINGS else len(HEADINGS)


@dataclass(frozen=True)
class Figure:
    """A figure, and the test items it comes from; without them it can't be resampled and has no interval."""

    value: float
    samples: tuple[Sample, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """What an encoder reached on a task: a figure per metric, the main one first; and all of it as JSON."""

    figures: dict[str, Figure]
    as_json: dict[str, Any]
    listings: tuple[Listing, ...] = ()  # what to read beside the figures

    @property
    def main(self) -> Figure:
        """The task's main figure."""
        return next(iter(self.figures.values()))

    def figure(self, metric: str) -> Figure | None:
        """The figure of a metric; None if the task has no such."""
        return self.main if metric == MAIN else self.figures.get(metric)


class TaskSpec(Spec):
    """A task by its metadata and settings, without its data.

    Fields are settings, such as a split; the class attributes say where its figures belong.
    """

    heading: ClassVar[str] = ""  # of the table that it stands in
    suites: ClassVar[tuple[str, ...]] = ()  # beside `all`, which holds every task that is in any suite
    metrics: ClassVar[tuple[str, ...]] = ()  # that a suite shows, the main one first; none: all that it gives
    in_parts: ClassVar[bool] = False  # whether a suite shows a column for each of its parts
    unit: ClassVar[str] = "x 100"  # of its figures
    with_interval: ClassVar[bool] = False  # whether tables show how far a figure might be off by the choice of items
    with_listings: ClassVar[bool] = False  # whether what it does worst on is shown
    source: ClassVar[PairSource | LabelledSource | None] = None  # where its data lies, if that is one place

    @property
    def name(self) -> str:
        """As it is asked for: `stsb`, `sts17:track5.en-en`."""
        return self.kind

    def open(self, data: Path | None = None) -> Task:
        """Reads the data; `MissingDataError` if there is none."""
        raise NotImplementedError

    def load_pairs(self, data: Path | None = None) -> Pairs:
        """The graded pairs of a task that consists of such."""
        raise IsotropeError(f"task '{self.name}' has no graded pairs")


class PartedSpec(TaskSpec):
    """A task of several parts, of which one can be asked for alone."""

    part: str = ""  # a language, track or subtask

    @property
    def name(self) -> str:
        """`sts17`, or `sts17:track5.en-en` for a part."""
        return f"{self.kind}:{self.part}" if self.part else self.kind


class Task(ABC):
    """A task with its data. One of your own needs a name and `measure`; the rest has defaults."""

    name: str = ""
    split: str | None = None  # which split of its data it tests on, where that can be chosen
    items: str = ""  # what it tests on: `1,379 pairs`
    sentences: Sequence[str] = ()  # the distinct test sentences
    remark: str = ""  # how it is measured, for the notes below the table
    heading: str = ""
    metrics: tuple[str, ...] = ()
    unit: str = "x 100"
    with_interval: bool = False
    with_listings: bool = False

    def __init__(self, spec: TaskSpec, items: str = "", sentences: Iterable[str] = (), name: str = "") -> None:
        self.name = name or spec.name
        self.items, self.sentences = items, list(dict.fromkeys(sentences))
        self.heading, self.metrics, self.unit = spec.heading, spec.metrics, spec.unit
        self.with_interval, self.with_listings = spec.with_interval, spec.with_listings

    @abstractmethod
    def measure(self, vectors: Vectors, batch_size: int = BATCH_SIZE) -> Outcome:
        """What the encoder behind the vectors reaches."""

    def parts(self) -> list[Task]:
        """A task for each part of it that can be told apart; by default there are none but the whole."""
        return [self]


class CalledTask(TaskSpec, Called):
    """A function of one's own: `task(encode, *, ...) -> float | dict[str, float]`; or a class that makes a `Task`.

    `encode(sentences)` gives vectors (sentences, dim). The figures are shown as they are returned.
    """

    unit = ""

    def open(self, data: Path | None = None) -> Task:
        """Reads no data: the function knows where its own is."""
        if not inspect.isclass(self.thing):
            return FunctionTask(self)
        task: Any = self.thing(**self.chosen)
        if not callable(getattr(task, "measure", None)):
            raise IsotropeError(f"'{self.kind}' is not a task: it has no method 'measure'")
        task.name = task.name or self.kind
        made: Task = task
        return made


class FunctionTask(Task):
    """The figures of a plain function."""

    def __init__(self, spec: CalledTask) -> None:
        super().__init__(spec)
        self.function: Callable[..., Any] = partial(spec.thing, **spec.chosen)
        self.metric = self.name.rpartition(":")[2]  # of a function that returns one figure

    def measure(self, vectors: Vectors, batch_size: int = BATCH_SIZE) -> Outcome:
        """One figure under the function's name, or those that it names."""
        found = self.function(partial(vectors.encode, batch_size=batch_size))
        given = found if isinstance(found, Mapping) else {self.metric: found}
        try:
            figures = {str(name): float(value) for name, value in given.items()}
        except (TypeError, ValueError) as error:
            told = f"task '{self.name}' returned {found!r:.60}; it should return a number or a dict of numbers"
            raise IsotropeError(told) from error
        return Outcome({name: Figure(value) for name, value in figures.items()}, dict(figures))
