"""`evaluate`: models, poolings and tasks in one table.

A function is a task too; its figures are shown as they are returned:

>>> def capitals(encode, *, word: str = "rain"):
...     lower, upper = encode([word, word.upper()])
...     return float(abs(lower - upper).max())
>>> [(record["metric"], record["figure"]) for record in evaluate("bundled", capitals, cache=False).records()]
[('capitals', 0.0)]
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from isotrope.evaluation.models import Model, ModelGroup, Models, check_models, group_models, model_name, open_model
from isotrope.evaluation.protocols import SILENT, Display
from isotrope.evaluation.provenance import count_trained_on, training_text
from isotrope.evaluation.results.results import Results
from isotrope.evaluation.results.side_by_side import (
    Measured,
    Row,
    measure,
    sections_by_metric,
    sections_of_suite,
    side_by_side,
)
from isotrope.evaluation.tasks import AnyTask, Task, TaskSpec, open_suite, open_task
from isotrope.evaluation.tasks.own import OwnClasses, OwnPairs, OwnRetrieval, Tables, own_specs
from isotrope.evaluation.vectors import remembered_together
from isotrope.io.errors import IsotropeError

DEFAULT = "bundled"


def evaluate(
    models: Models,
    tasks: AnyTask | Iterable[AnyTask] = (),
    *,
    pairs: Tables = None,
    classes: Tables = None,
    retrieval: Tables = None,
    suite: str | None = None,
    data: str | Path | None = None,
    pooling: str | Iterable[str] = (),
    split: str | None = None,
    classifier: Literal["logistic", "mlp"] = "logistic",
    prototyping: bool = False,
    seeds: int | Sequence[int] | None = None,
    batch_size: int = 64,
    device: str | None = None,
    precision: str | None = None,
    cache: bool = True,
    display: Display = SILENT,
) -> Results:
    """Measures encoders side by side: similarity as people see it, and what else the vectors are good for.

    Args:
        models: One or several of: a name (`bundled`, `minilm`, one on the Hub), a model folder, the folder of a run, an
            `Encoder`, a `SentenceTransformer`. `"NAME=RUN,RUN"`, or a mapping `{name: [run, run]}`, makes one row of
            several seeds.
        tasks: Names such as `"stsb"` or `"stsb-multi:de"`, `"package.module:Name"`, a `Task`, or a function
            `task(encode, *, ...) -> float | dict[str, float]`. By default `bundled`, or those of the suite.
        pairs: Your own pairs: a table with `sentence1`, `sentence2` and `score` (a grade of any scale, or 0 and 1). A
            file, a frame or a list of rows; several files or frames in a list; `{name: table}` or `"NAME=FILE"`.
        classes: Your own texts with a class each, in the same ways: `text` and `label`.
        retrieval: Your own queries, in the same ways: `query`, `document` and `relevance` (without it, all 1).
        suite: `papers`, `sts`, `transfer`, `multilingual`, `arguments`, `domains` or `all`: every task of it whose data
            is there, with averages, intervals, and marks of what was seen in training.
        data: Folder of data sets; by default `$ISOTROPE_DATA`, else the Hugging Face Hub.
        pooling: One or several, each of which makes a row; by default each model's own.
        split: `train`, `dev` or `test`, where a task has it.
        classifier: Of transfer tasks: `logistic`, or `mlp` with 50 hidden units, which paper 1's Table 9 has.
        prototyping: Transfer tasks by SentEval's quick settings instead of the papers'.
        seeds: Of the classifiers of transfer tasks: how many, from 1 on, or which; figures are means. By default
            SentEval's own seed, 1111.
        batch_size: Sentences at a time.
        device: `cpu`, `cuda`, `cuda:1`, `mps` ...; by default the fastest there is.
        precision: `float32` or `bfloat16`, for models that are loaded by name.
        cache: Whether vectors are kept on disk and looked up the next time.
        display: Shows progress; by default nothing is shown.

    Returns:
        The results, which print as tables.

    >>> results = evaluate("bundled", tasks=["bundled"], pooling=["mean", "cls"], cache=False)
    >>> for row, cell in zip(results.rows, results.columns[0].cells):
    ...     print(row.name, row.pooling, f"{cell.value:.2f}")
    bundled mean 22.57
    bundled cls 22.77
    """
    if suite and split:
        raise IsotropeError("a suite measures test splits; for another split name tasks instead of a suite")
    options = {"split": split, "classifier": classifier, "prototyping": prototyping, "seeds": _numbers(seeds)}
    groups, poolings = group_models(models), [pooling] if isinstance(pooling, str) else list(pooling)
    own = [*own_specs(OwnPairs, pairs), *own_specs(OwnClasses, classes), *own_specs(OwnRetrieval, retrieval)]
    with display.waiting("Reading tasks"):
        opened, absent = _open(suite, [*_several(tasks), *own], Path(data) if data else None, options)
    check_models([model for group in groups for model in group.models], poolings)
    settings: dict[str, Any] = {"device": device, "precision": precision, "batch_size": batch_size, "cache": cache}
    rows = [row for group in groups for row in _rows(group, poolings, opened, bool(suite), display, **settings)]
    with display.waiting("Comparing"):
        return _results(rows, opened, absent, suite)


def _numbers(seeds: int | Sequence[int] | None) -> tuple[int, ...] | None:
    """`8` is 1 to 8."""
    chosen = tuple(range(1, seeds + 1)) if isinstance(seeds, int) else tuple(dict.fromkeys(seeds or ()))
    if not chosen and seeds is not None:
        raise IsotropeError("seeds=: at least one is needed", argument="seeds=")
    return chosen or None


def _several(tasks: AnyTask | Iterable[AnyTask]) -> list[AnyTask]:
    alone = isinstance(tasks, str | Mapping | TaskSpec | Task) or callable(tasks)
    return [tasks] if alone else list(tasks)


def _open(
    suite: str | None, names: Sequence[AnyTask], data: Path | None, options: dict[str, Any]
) -> tuple[list[Task], list[str]]:
    """The tasks of the suite and those that are named, all opened before the first model is loaded; and the missing."""
    opened, absent = open_suite(suite, data=data, **options) if suite else ([], [])
    for task in names or ([] if suite else [DEFAULT]):
        one = open_task(task, data=data, **options)
        if one.with_listings and one.name in {other.name for other in opened}:
            raise IsotropeError(f"two tables or tasks are called '{one.name}'; name one of them: NAME=FILE")
        if one.name not in {other.name for other in opened}:
            opened.append(one)
    return opened, absent


def _rows(
    group: ModelGroup,
    poolings: Sequence[str],
    tasks: Sequence[Task],
    in_suite: bool,
    display: Display,
    *,
    batch_size: int,
    cache: bool,
    **placed: Any,
) -> list[Row]:
    """One for each pooling. A model is loaded once, and goes through its text once."""
    found: dict[str, list[Measured]] = {}
    for model in group.models:
        name = model_name(model)
        trained_on = _trained_on(model, tasks) if in_suite else None
        with display.waiting(f"Loading {name}"):
            encoder = open_model(model, **placed)
        variants = [encoder.with_pooling(pooling) for pooling in poolings] or [encoder]
        total = len(variants) * sum(len(task.sentences) for task in tasks)
        with (
            display.counting(name, total) as advance,
            remembered_together(variants, cache=cache, encoded=advance) as several,
        ):
            for variant, vectors in zip(variants, several, strict=True):
                one = Measured(name, {}, {}, trained_on)
                for task in tasks:
                    advance(0, f"{name}, {variant.pooling}: {task.name}")
                    measure(vectors, task, one, forgiving=in_suite, batch_size=batch_size)
                found.setdefault(str(variant.pooling), []).append(one)
    return [Row(group.name, pooling, tuple(members)) for pooling, members in found.items()]


def _trained_on(model: Model, tasks: Sequence[Task]) -> dict[str, int] | None:
    """How many sentences of each task a model was trained on; None if its training text is unknown."""
    corpora = training_text(model) if isinstance(model, str | Path) else None
    return None if corpora is None else {task.name: count_trained_on(task.sentences, corpora) for task in tasks}


def _results(rows: Sequence[Row], tasks: Sequence[Task], absent: Sequence[str], suite: str | None) -> Results:
    given: dict[str, list[str]] = {}
    for member in (member for row in rows for member in row.members):
        for task, outcome in member.outcomes.items():
            given.setdefault(task, list(outcome.figures))
    sections = sections_of_suite(tasks, given) if suite else sections_by_metric(tasks, given)
    return Results(
        rows,
        side_by_side(rows, sections, resample=bool(suite)),
        items={task.name: task.items if suite or not task.split else f"{task.split}, {task.items}" for task in tasks},
        sentences={task.name: len(task.sentences) for task in tasks},
        absent=absent,
        suite=suite,
        remarks=sorted({task.remark for task in tasks} - {""}),
        listed=[task.name for task in tasks if task.with_listings],
    )
