"""Tasks and suites: one class per task with its metadata and settings, found by name.

A task is named by its kind (`stsb`), a part of one by `kind:part` (`sts17:track5.en-en`), and one of your own by
`package.module:Name`: a `TaskSpec`, a class that makes a `Task`, or a function `task(encode, *, ...)`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

from isotrope.evaluation.data.pairs import Pairs
from isotrope.evaluation.data.places import MissingDataError
from isotrope.evaluation.tasks.base import CalledTask, Figure, Outcome, PartedSpec, Task, TaskSpec, heading_order
from isotrope.io.errors import IsotropeError, nearest
from isotrope.parts import Registry

__all__ = [
    "TASKS",
    "AnyTask",
    "Figure",
    "Outcome",
    "PartedSpec",
    "Task",
    "TaskSpec",
    "known_tasks",
    "load_pairs",
    "open_suite",
    "open_task",
    "read_task",
    "suites",
]

AnyTask: TypeAlias = Any  # a name or path, a TaskSpec, a table `{"kind": ..., setting: ...}`, a Task, a function
TASKS: Registry[TaskSpec] = Registry("tasks", "isotrope.evaluation.tasks", TaskSpec, called=CalledTask)
ALL = "all"


def known_tasks() -> dict[str, type[TaskSpec]]:
    """Every task that has a name, by its name, in the order of the tables."""
    return dict(sorted(TASKS.specs.items(), key=lambda item: heading_order(item[1].heading)))


def suites() -> dict[str, list[str]]:
    """The tasks of each suite; `all` has those that are in any."""
    found: dict[str, list[str]] = {}
    for kind, spec in known_tasks().items():
        for suite in (*spec.suites, ALL) if spec.suites else ():
            found.setdefault(suite, []).append(kind)
    return dict(sorted(found.items(), key=lambda item: item[0] == ALL))


def read_task(task: AnyTask, **options: Any) -> TaskSpec:
    """The spec of a task. `options` (split, classifier, prototyping) are set where the task has such a setting."""
    if isinstance(task, TaskSpec):
        return task
    values: dict[str, Any] = dict(task) if isinstance(task, Mapping) else {"kind": task}
    kind, part = _kind_and_part(values.pop("kind", ""))
    spec = TASKS.resolve(kind)
    if part and "part" not in spec.model_fields:
        raise IsotropeError(f"task '{kind}' has no parts such as '{part}'")
    if options.get("split") and "split" not in spec.model_fields:
        raise IsotropeError(f"task '{kind}' has no splits to choose from; leave out split=", argument="split=")
    fitting = {key: value for key, value in options.items() if key in spec.model_fields and value is not None}
    return TASKS.make(kind, **fitting, **({"part": part} if part else {}), **values)


def open_task(task: AnyTask, *, data: Path | None = None, **options: Any) -> Task:
    """A task with its data; `MissingDataError` if there is none. `options` as in `read_task`."""
    return task if isinstance(task, Task) else read_task(task, **options).open(data)


def open_suite(name: str, *, data: Path | None = None, **options: Any) -> tuple[list[Task], list[str]]:
    """The tasks of a suite whose data is there, and the names of those whose data is not."""
    known = suites()
    if name not in known:
        raise IsotropeError(f"unknown suite '{name}'{nearest(name, known)}; choose from {', '.join(known)}")
    opened = {kind: list(_opened(read_task(kind, **options), data)) for kind in known[name]}
    tasks = [task for parts in opened.values() for task in parts]
    absent = [kind for kind, parts in opened.items() if not parts]
    if not tasks:
        raise MissingDataError(
            f"suite '{name}': neither a data folder nor the Hugging Face Hub has any of {', '.join(absent)}"
        )
    return tasks, absent


def load_pairs(task: AnyTask, *, data: Path | None = None, split: str | None = None) -> Pairs:
    """The graded pairs of a task such as `stsb`, `stsb-multi:de` or `bundled`.

    >>> len(load_pairs("bundled", split="dev").scores)
    110
    """
    return read_task(task, split=split).load_pairs(data)


def _opened(spec: TaskSpec, data: Path | None) -> Iterator[Task]:
    """The task, or its parts; nothing if its data is missing."""
    with suppress(MissingDataError):
        task = spec.open(data)
        yield from task.parts() if spec.in_parts else [task]


def _kind_and_part(name: Any) -> tuple[Any, str]:
    """`sts17:track5.en-en` is a part of a task; `package.module:Name` is a task."""
    if not isinstance(name, str) or name in TASKS.specs:
        return name, ""
    base, _, part = name.partition(":")
    if base in TASKS.specs:
        return base, part
    if Path(name).suffix.lower() in (".csv", ".tsv", ".jsonl", ".parquet", ".gz"):
        raise IsotropeError(f"'{name}' is not a task; give a table of your own as pairs=, classes= or retrieval=")
    if not part or nearest(base, TASKS.kinds):
        known = ", ".join(known_tasks())
        raise IsotropeError(
            f"unknown task '{base}'{nearest(base, TASKS.kinds)}; choose from {known}, or package.module:Name"
        )
    return name, ""
