"""`sweep`: a recipe under every combination of some settings, in one table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from isotrope import recipes
from isotrope.io.errors import IsotropeError, as_typed
from isotrope.io.hashes import digest
from isotrope.papers.published import Budget, Column, Making, Picture, Published, Row
from isotrope.papers.reproduction import reproduce
from isotrope.papers.result import Reproduction
from isotrope.papers.texts import Texts

Grid = Mapping[str, Sequence[Any]]


def sweep(
    recipe: str,
    sentences: str | Path | Iterable[str],
    grid: Grid,
    *,
    model: str = "bundled",
    seeds: int = 3,
    dev: str | None = None,
    tasks: Sequence[str] = (),
    budget: Budget = "full",
    set: Mapping[str, Any] | None = None,  # noqa: A002
    teacher: str | Path | None = None,
    data: str | Path | None = None,
    output: str | Path = "runs/sweep",
    dry_run: bool = False,
) -> Reproduction:
    """Runs a recipe under every combination of settings, with several seeds each, and measures what comes out.

    What is done in `output` is not done again, what was cut off goes on, and several processes may share the folder.

    Args:
        recipe: a name, `name:variant`, or a TOML file.
        sentences: what it learns from: a file, or sentences.
        grid: values by the dotted path of a field: `{"objective.temperature": [0.01, 0.05, 0.1]}`.
        model: what to start from: a name or a folder.
        seeds: runs of each combination, 1 to so many.
        dev: a task by whose development split checkpoints are chosen; it is a column too.
        tasks: further columns, by the names of tasks.
        budget: `full` for the recipe's own steps, `quick` for a few.
        set: fields that are the same for all.
        teacher: the guide's model, for recipes whose guide is another encoder.
        data: folder of data sets; by default `$ISOTROPE_DATA`, else the Hub.
        output: the folder of all runs.
        dry_run: nothing is run but a step, to tell how long the rest will take.

    Example:
        >>> import isotrope, tempfile
        >>> from isotrope.text import bundled_sentences
        >>> found = isotrope.sweep("simcse:bundled", bundled_sentences()[:40], {"objective.temperature": [0.05, 0.1]},
        ...     seeds=1, tasks=["bundled"], output=tempfile.mkdtemp(),
        ...     set={"training.steps": 1, "training.batch_size": 8})
        >>> [one.row.name for one in found.rows]
        ['objective.temperature=0.05', 'objective.temperature=0.1']
    """
    table = grid_table(recipe, grid, dev, tasks)
    text = _file(sentences, Path(output))
    return reproduce(
        table,
        model=model,
        seeds=seeds,
        budget=budget,
        text=text,
        teacher=teacher,
        set=set,
        data=data,
        output=output,
        dry_run=dry_run,
    )


def grid_table(recipe: str, grid: Grid, dev: str | None, tasks: Sequence[str]) -> Published:
    """The table of a sweep, with nothing published in it. Every combination is checked before the first is run."""
    columns = [*([Column(name=f"{dev}, dev", task=dev, split="dev")] if dev else []), *_columns(tasks)]
    if not columns:
        dev_option, tasks_option = as_typed("dev="), as_typed("tasks=")
        raise IsotropeError(f"nothing to measure: give a development set in {dev_option}, or tasks in {tasks_option}")
    if not grid or not all(len(values) for values in grid.values()):
        raise IsotropeError(
            "no values to try: give a grid such as objective.temperature=0.01,0.05,0.1", argument="grid="
        )
    keys = list(grid)
    rows = [_row(recipe, dict(zip(keys, values, strict=True))) for values in product(*grid.values())]
    kind = {1: "lines", 2: "grid"}.get(len(keys), "dots")
    if kind == "lines" and not all(isinstance(row.x, float | int) for row in rows):
        kind = "dots"
    return Published(
        name="sweep",
        label="Sweep",
        paper="",
        caption=f"{recipe} over {', '.join(keys)}.",
        metric="The main figure of each task",
        columns=tuple(columns),
        rows=tuple(rows),
        dev=dev,
        picture=Picture(kind=kind, x=keys[0], y=keys[1] if len(keys) > 1 else ""),  # type: ignore[arg-type]
    )


def _columns(tasks: Sequence[str]) -> list[Column]:
    return [Column(name=task, task=task) for task in dict.fromkeys(tasks)]


def _row(recipe: str, chosen: dict[str, Any]) -> Row:
    recipes.load(recipe, chosen)
    x, *others = chosen.values()
    name = ", ".join(f"{key}={value}" for key, value in chosen.items())
    place = x if isinstance(x, float | int) and not isinstance(x, bool) and len(chosen) == 1 else str(x)
    return Row(name=name, run=Making(recipe=recipe, set=chosen), x=place, y=str(others[0]) if others else None)


def _file(sentences: str | Path | Iterable[str], folder: Path) -> Path:
    """A file as it is; sentences become one, named by what they say."""
    if isinstance(sentences, str | Path):
        return Path(sentences)
    given = list(sentences)
    file = folder / "texts" / f"given-{digest(chr(10).join(given), 6).hex()}.txt"
    if not file.is_file():
        file.parent.mkdir(parents=True, exist_ok=True)
        Texts(file.parent).write(file, given)
    return file
