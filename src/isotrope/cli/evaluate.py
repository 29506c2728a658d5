"""`isotrope evaluate`: models, poolings and tasks in one table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from isotrope.cli.console import counting, print_table, waiting
from isotrope.cli.models import MODEL_HELP, check_models, load_encoder
from isotrope.cli.options import AsJson, BatchSize, Data, Device, Force, Split
from isotrope.io.atomic import check_output, whole_or_nothing
from isotrope.io.errors import IsotropeError
from isotrope.io.hub import stay_offline_without_hub

if TYPE_CHECKING:
    from isotrope.cli.rows import Line
    from isotrope.cli.tables import Report
    from isotrope.evaluation.comparison import Measured, Row
    from isotrope.evaluation.sts import Pairs
    from isotrope.evaluation.suite import Section
    from isotrope.evaluation.tasks import Task

Models = Annotated[
    list[str],
    typer.Argument(metavar="MODEL...", help=f"{MODEL_HELP} Or the folder of a run. NAME=RUN,RUN are seeds of one."),
]
Suite = Annotated[
    str | None,
    typer.Option(
        help="papers, sts, transfer, multilingual, arguments or all: those of its tasks of which there are data, "
        "with averages, marks of what was seen in training, and intervals."
    ),
]
Tasks = Annotated[
    str | None,
    typer.Option(
        help="bundled, stsb, sts12 to sts16, sickr, sts17, stsb-multi, cnsd-stsb, tatoeba, arguments, mr, cr, subj, "
        "mpqa, sst2, trec, mrpc, separated by commas; stsb-multi:de is one language, sts17:track5.en-en one track.",
        show_default="bundled, or the suite's",
    ),
]
Poolings = Annotated[
    str | None,
    typer.Option(
        help="cls, mean, max, last2, first-last, cls-mlp, separated by commas; mean@2 is the mean at layer 2.",
        show_default="each model's own",
    ),
]
Classifier = Annotated[Literal["logistic", "mlp"], typer.Option(help="Of transfer tasks; mlp has 50 hidden units.")]
Prototyping = Annotated[
    bool, typer.Option("--prototyping", help="Transfer tasks by SentEval's quick settings instead of the papers'.")
]
Cache = Annotated[bool, typer.Option("--cache/--no-cache", help="Look up what was encoded before.")]
AsCsv = Annotated[bool, typer.Option("--csv", help="Print CSV, a figure a line.")]
AsMarkdown = Annotated[bool, typer.Option("--markdown", help="Print Markdown.")]
AsLatex = Annotated[bool, typer.Option("--latex", help="Print LaTeX; it needs booktabs.")]
Output = Annotated[
    Path | None, typer.Option("--output", "-o", help="Write it to a file as well: .json, .csv, .md or .tex.")
]


def evaluate(
    models: Models,
    suite: Suite = None,
    tasks: Tasks = None,
    pooling: Poolings = None,
    data: Data = None,
    split: Split = None,
    classifier: Classifier = "logistic",
    prototyping: Prototyping = False,
    batch_size: BatchSize = 64,
    device: Device = None,
    cache: Cache = True,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    as_markdown: AsMarkdown = False,
    as_latex: AsLatex = False,
    output: Output = None,
    force: Force = False,
) -> None:
    """Measure encoders side by side: similarity as people see it, and what else the vectors are good for.

    [dim]Example:[/] isotrope evaluate bundled minilm runs/first --suite papers --data DIR
    """
    from isotrope.cli.rows import read_lines
    from isotrope.cli.tables import ENDINGS

    chosen = {"json": as_json, "csv": as_csv, "markdown": as_markdown, "latex": as_latex}
    if sum(chosen.values()) > 1:
        raise IsotropeError(f"choose one of {', '.join(f'--{name}' for name, given in chosen.items() if given)}")
    if output:
        check_output(output, ENDINGS, force=force)
    poolings, lines = _names(pooling), read_lines(models)
    opened, absent = _open(suite, _names(tasks), data, split, prototyping=prototyping, classifier=classifier)
    report = _report(lines, poolings, opened, absent, device, suite=suite, batch_size=batch_size, cache=cache)
    kind = next((name for name, given in chosen.items() if given), "")
    if kind:
        typer.echo(_as_text(report, kind, suite), nl=False)
    else:
        _print(report)
    if output:
        with whole_or_nothing(output) as partial:
            partial.write_text(_as_text(report, ENDINGS[output.suffix.lower()], suite), encoding="utf-8")


def load_tasks(names: list[str], data: Path | None, split: str | None) -> dict[str, Pairs]:
    """The pairs of each task, all there before the first model is loaded."""
    if names != ["bundled"]:
        stay_offline_without_hub()
    with waiting("Reading tasks"):
        from isotrope.evaluation.sts import load_task

        return {name: load_task(name, data=data, split=split) for name in names}


def _open(
    suite: str | None, names: list[str], data: Path | None, split: str | None, *, prototyping: bool, **options: Any
) -> tuple[list[Task], list[str]]:
    """The tasks of the suite and those that are named, all there before the first model is loaded; and what is not."""
    if suite and split:
        raise IsotropeError("--suite measures test splits; for another leave it out, as in --tasks stsb --split dev")
    names = names or ([] if suite else ["bundled"])
    if names != ["bundled"]:
        stay_offline_without_hub()
    with waiting("Reading tasks"):
        from isotrope.evaluation.suite import open_suite
        from isotrope.evaluation.tasks import open_task
        from isotrope.evaluation.transfer import PAPER, PROTOTYPING

        options = {**options, "data": data, "settings": PROTOTYPING if prototyping else PAPER}
        opened, absent = open_suite(suite, **options) if suite else ([], [])
        there = {task.name for task in opened}
        opened += [open_task(name, split=split, **options) for name in names if name not in there]
        return opened, absent


def _report(
    lines: Sequence[Line],
    poolings: list[str],
    tasks: list[Task],
    absent: list[str],
    device: str | None,
    *,
    suite: str | None,
    **options: Any,
) -> Report:
    from isotrope.cli.rows import encoder_of
    from isotrope.cli.tables import Report
    from isotrope.evaluation.comparison import compare
    from isotrope.evaluation.suite import grouped
    from isotrope.evaluation.tasks import TransferTask

    check_models([encoder_of(model) for line in lines for model in line.models], poolings)
    rows = [row for line in lines for row in _rows(line, poolings, tasks, device, suite=suite, **options)]
    sections = grouped([task.name for task in tasks]) if suite else _by_metric(rows[0])
    with waiting("Comparing"):
        columns = compare(rows, sections, resample=bool(suite))
    items = {task.name: task.items if suite or task.split is None else f"{task.split}, {task.items}" for task in tasks}
    sentences = {task.name: len(task.sentences) for task in tasks}
    remarks = {f"Transfer tasks: {task.how}" for task in tasks if isinstance(task, TransferTask)}
    return Report(rows, columns, items, sentences, absent, marked=bool(suite), remarks=sorted(remarks))


def _rows(
    line: Line,
    poolings: list[str],
    tasks: list[Task],
    device: str | None,
    *,
    suite: str | None,
    cache: bool,
    **options: Any,
) -> list[Row]:
    """One for each pooling. A model is loaded once, and goes through its text once."""
    from isotrope.cli.rows import encoder_of, training_text
    from isotrope.evaluation.comparison import Measured, Row, measure
    from isotrope.evaluation.seen import count_seen
    from isotrope.evaluation.vectors import remembered_together

    found: dict[str, list[Measured]] = {}
    for model in line.models:
        corpora = training_text(model) if suite else None
        seen = None if corpora is None else {task.name: count_seen(task.sentences, corpora) for task in tasks}
        encoder = load_encoder(encoder_of(model), device=device)
        variants = [encoder.with_pooling(name) for name in poolings] or [encoder]
        total = len(variants) * sum(len(task.sentences) for task in tasks)
        with (
            counting(model, total) as advance,
            remembered_together(variants, cache=cache, encoded=advance) as several,
        ):
            for variant, vectors in zip(variants, several, strict=True):
                one = Measured(model, {}, {}, seen)
                for task in tasks:
                    advance(0, f"{model}, {variant.pooling}: {task.name}")
                    measure(vectors, task, one, forgiving=bool(suite), **options)
                found.setdefault(str(variant.pooling), []).append(one)
    return [Row(line.name, pooling, tuple(members)) for pooling, members in found.items()]


def _by_metric(row: Row) -> list[Section]:
    """The tasks in their order, under the figure that is their own."""
    from isotrope.evaluation.suite import Section

    own = {task: next(iter(outcome.figures)) for task, outcome in row.members[0].outcomes.items()}
    metrics = dict.fromkeys(own.values())
    return [Section("", metric, tuple(task for task in own if own[task] == metric)) for metric in metrics]


def _print(report: Report) -> None:
    from isotrope.cli.tables import rich_tables

    for table in rich_tables(report):
        print_table(table)
    for note in report.notes():
        typer.echo(note)


def _as_text(report: Report, kind: str, suite: str | None) -> str:
    import json

    from isotrope.cli import tables

    if kind == "json":
        value = tables.as_json(report) if suite else {"results": _results(report)}
        return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
    return {"csv": tables.as_csv, "markdown": tables.markdown, "latex": tables.latex}[kind](report)


def _results(report: Report) -> list[dict[str, Any]]:
    """One entry for each encoder under each pooling; an average where all tasks have the same kind of figure."""
    averaged = len({column.section.metric for column in report.columns}) == 1
    return [
        {
            "model": member.model,
            "pooling": row.pooling,
            "tasks": {task: outcome.as_json for task, outcome in member.outcomes.items()},
            "average": round(mean(outcome.own.value for outcome in member.outcomes.values()), 2) if averaged else None,
        }
        for row in report.rows
        for member in row.members
    ]


def _names(text: str | None) -> list[str]:
    """`"a, b,a"` -> `["a", "b"]`."""
    return list(dict.fromkeys(name.strip() for name in (text or "").split(",") if name.strip()))
