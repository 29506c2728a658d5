"""Suites: which tasks the papers report together, under which heading and by which figure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from isotrope.evaluation.pairs import MissingDataError
from isotrope.evaluation.tasks import PairTask, Task, open_task
from isotrope.evaluation.transfer import TRANSFER_TASKS
from isotrope.io.errors import IsotropeError, nearest

STS = ("stsb", "sts12", "sts13", "sts14", "sts15", "sts16", "sickr")
TRANSFER = tuple(TRANSFER_TASKS)
ARGUMENTS = ("arguments",)
MULTILINGUAL = ("sts17", "stsb-multi", "cnsd-stsb", "tatoeba")

SUITES: dict[str, tuple[str, ...]] = {
    "papers": (*STS, *TRANSFER, "sts17", "cnsd-stsb", *ARGUMENTS),
    "sts": STS,
    "transfer": TRANSFER,
    "multilingual": MULTILINGUAL,
    "arguments": ARGUMENTS,
    "all": (*STS, *TRANSFER, *MULTILINGUAL, *ARGUMENTS),
}
IN_PARTS = ("sts17", "stsb-multi")  # of which each track, each language is a column


class Group(NamedTuple):
    """Tasks that are averaged: a heading, the figure that is shown, and the tasks by their names before the colon."""

    title: str
    metric: str
    bases: tuple[str, ...]


GROUPS = (
    Group("STS", "spearman", STS),
    Group("Transfer", "accuracy", TRANSFER),
    Group("SemEval-2017", "spearman", ("sts17",)),  # paper 3's figure
    Group("SemEval-2017", "pearson", ("sts17",)),  # paper 1's
    Group("STS-B in other languages", "spearman", ("stsb-multi", "cnsd-stsb")),
    Group("Tatoeba", "accuracy", ("tatoeba",)),
    Group("Argument similarity", "spearman", ARGUMENTS),
    Group("Argument similarity", "pearson", ARGUMENTS),
    Group("Bundled", "spearman", ("bundled",)),
)


class Section(NamedTuple):
    """Columns of a table that are averaged: tasks by one figure, under a heading."""

    title: str
    metric: str
    tasks: tuple[str, ...]


def open_suite(name: str, *, data: Path | None = None, **options: Any) -> tuple[list[Task], list[str]]:
    """The tasks of a suite whose data there are, and the names of those whose data there are not.

    `options` are those of `open_task`.
    """
    if name not in SUITES:
        raise IsotropeError(f"unknown suite '{name}'{nearest(name, SUITES)}; choose from {', '.join(SUITES)}")
    opened = {base: list(_opened(base, data=data, **options)) for base in SUITES[name]}
    tasks = [task for parts in opened.values() for task in parts]
    absent = [base for base, parts in opened.items() if not parts]
    if not tasks:
        raise IsotropeError(
            f"suite '{name}': neither a data folder nor the Hugging Face Hub gave any of {', '.join(absent)}; "
            "give --data DIR or set ISOTROPE_DATA"
        )
    return tasks, absent


def grouped(tasks: Sequence[str]) -> list[Section]:
    """The tasks under the headings of the papers."""
    found = []
    for title, metric, bases in GROUPS:
        members = tuple(task for task in tasks if task.partition(":")[0] in bases)
        if members:
            found.append(Section(title, metric, members))
    return found


def _opened(name: str, **options: Any) -> Iterator[Task]:
    """The task, or its parts; nothing where its data are missing."""
    with suppress(MissingDataError):
        task = open_task(name, **options)
        yield from task.parts() if isinstance(task, PairTask) and name in IN_PARTS else [task]
