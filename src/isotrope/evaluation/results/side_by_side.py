"""Encoders side by side: means over seeds, averages over tasks, and how sure a difference is."""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from isotrope.evaluation.results.resampling import RESAMPLES, Floats, interval, resampled
from isotrope.evaluation.tasks.base import BATCH_SIZE, Outcome, Task, heading_order
from isotrope.evaluation.vectors import Vectors
from isotrope.io.errors import IsotropeError

AVERAGE = "average"


class Section(NamedTuple):
    """Columns of a table that are averaged: tasks by one metric, under a heading."""

    title: str
    metric: str
    tasks: tuple[str, ...]
    unit: str = "x 100"
    with_interval: bool = False  # of each figure


def sections_of_suite(tasks: Sequence[Task], given: Mapping[str, Sequence[str]]) -> list[Section]:
    """The tasks under their headings, a section for each metric that a suite shows.

    `given` has the metrics of each task that was measured, for those that do not say themselves which to show.
    """
    found = []
    for title in sorted(dict.fromkeys(task.heading or task.name for task in tasks), key=heading_order):
        members = [task for task in tasks if (task.heading or task.name) == title]
        for metric in dict.fromkeys(metric for task in members for metric in _metrics(task, given)):
            some = [task for task in members if metric in _metrics(task, given)]
            found.append(_section(title, metric, some))
    return found


def sections_by_metric(tasks: Sequence[Task], given: Mapping[str, Sequence[str]]) -> list[Section]:
    """The tasks in their order, each by its main metric; all metrics of a task that names none."""
    shown = {task.name: (*task.metrics[:1],) or (*given.get(task.name, ()),) for task in tasks}
    found = []
    for metric, unit in dict.fromkeys((metric, task.unit) for task in tasks for metric in shown[task.name]):
        some = [task for task in tasks if metric in shown[task.name] and task.unit == unit]
        found.append(_section("", metric, some))
    return found


def _section(title: str, metric: str, tasks: Sequence[Task]) -> Section:
    with_interval = any(task.with_interval for task in tasks)
    return Section(title, metric, tuple(task.name for task in tasks), tasks[0].unit, with_interval)


def _metrics(task: Task, given: Mapping[str, Sequence[str]]) -> Sequence[str]:
    return task.metrics or given.get(task.name, ())


@dataclass(frozen=True)
class Measured:
    """One encoder: what it reached on each task, or why it can't be measured there."""

    model: str
    outcomes: dict[str, Outcome]
    problems: dict[str, str] = field(default_factory=dict)
    trained_on: dict[str, int] | None = None  # test sentences of each task in its training text; None: unknown


@dataclass(frozen=True)
class Row:
    """A row of the table: one encoder, or several that differ in their seed."""

    name: str
    pooling: str
    members: tuple[Measured, ...]


class Interval(NamedTuple):
    """What holds 95% of the resamples of a figure."""

    low: float
    high: float


class Difference(NamedTuple):
    """To the first row, and the interval that holds 95% of its resamples."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Cell:
    """Mean and standard deviation over a row's seeds; nan where it could not be measured."""

    value: float
    deviation: float | None = None
    difference: Difference | None = None
    interval: Interval | None = None


@dataclass(frozen=True)
class Column:
    """A task by one metric, or the average of a section, for every row."""

    section: Section
    task: str
    cells: list[Cell]

    def best(self, row: int) -> bool:
        """Whether no other row has a higher figure, to the two decimals that are shown."""
        figures = [round(cell.value, 2) for cell in self.cells if not math.isnan(cell.value)]
        return len(self.cells) > 1 and bool(figures) and round(self.cells[row].value, 2) == max(figures)


def measure(
    vectors: Vectors, task: Task, found: Measured, *, batch_size: int = BATCH_SIZE, forgiving: bool = False
) -> None:
    """Adds a task to what was found. If `forgiving`, an encoder that fails on it (no vectors for Arabic, say) is a
    problem to be noted and no error.
    """
    try:
        found.outcomes[task.name] = task.measure(vectors, batch_size)
    except IsotropeError as error:
        if not forgiving:
            raise
        found.problems[task.name] = str(error)


def side_by_side(rows: Sequence[Row], sections: Sequence[Section], *, resample: bool = False) -> list[Column]:
    """All columns, the average of each section behind its tasks. If `resample`, with intervals of the
    differences; so too where the section asks for intervals.
    """
    several = len(rows) > 1
    compared = [several and (resample or section.with_interval) for section in sections]
    return [
        column
        for section, yes in zip(sections, compared, strict=True)
        for column in _columns(rows, section, compared=yes)
    ]


def _columns(rows: Sequence[Row], section: Section, *, compared: bool) -> Iterator[Column]:
    resample = compared or section.with_interval
    names = [*section.tasks, AVERAGE] if len(section.tasks) > 1 else list(section.tasks)
    values = [_with_mean(_values(row, section), axis=1) for row in rows]  # each (seeds, columns)
    draws = [_with_mean(_draws(row, section), axis=0) for row in rows] if resample else []  # each (columns, resamples)
    for j, name in enumerate(names):
        means = [float(of_seeds[:, j].mean()) for of_seeds in values]
        cells = []
        for i, of_seeds in enumerate(values):
            deviation = float(of_seeds[:, j].std(ddof=1)) if len(of_seeds) > 1 else None
            difference = _difference(means[i] - means[0], draws[i][j] - draws[0][j]) if compared and i else None
            own = _interval(draws[i][j]) if section.with_interval else None
            cells.append(Cell(means[i], deviation, difference, own))
        yield Column(section, name, cells)


def _with_mean(array: Floats, axis: int) -> Floats:
    """The mean over the tasks behind them."""
    return np.concatenate([array, array.mean(axis, keepdims=True)], axis)


def _values(row: Row, section: Section) -> Floats:
    """(seeds, tasks)."""

    def value(member: Measured, task: str) -> float:
        outcome = member.outcomes.get(task)
        figure = outcome.figure(section.metric) if outcome else None
        return figure.value if figure else math.nan

    return np.array([[value(member, task) for task in section.tasks] for member in row.members])


def _draws(row: Row, section: Section) -> Floats:
    """The mean over the seeds on each resample, (tasks, resamples). A task's draws do not depend on other tasks."""

    def draws(member: Measured, task: str) -> Floats:
        outcome = member.outcomes.get(task)
        figure = outcome.figure(section.metric) if outcome else None
        if figure is None or not figure.samples:
            return np.full(RESAMPLES, np.nan)
        return resampled(figure.samples, seed=zlib.crc32(f"{section.metric} {task}".encode()))

    return np.array([np.mean([draws(member, task) for member in row.members], axis=0) for task in section.tasks])


def _difference(value: float, draws: Floats) -> Difference | None:
    found = _interval(draws)
    return found and Difference(value, *found)


def _interval(draws: Floats) -> Interval | None:
    return None if np.isnan(draws).all() else Interval(*interval(draws))
