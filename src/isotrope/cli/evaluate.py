"""`isotrope evaluate`: models, poolings and similarity tasks in one table."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from isotrope.cli.console import counting, print_json, print_table, waiting
from isotrope.cli.models import MODEL_HELP, BatchSize, Device, check_models, load_encoder
from isotrope.hub import stay_offline_without_hub

if TYPE_CHECKING:
    from isotrope.evaluation.sts import Pairs

Data = Annotated[Path | None, typer.Option(help="Folder of data sets.", show_default="$ISOTROPE_DATA, else the Hub")]
Split = Annotated[str | None, typer.Option(help="train, dev or test, where a task has it.", show_default="test")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]


def evaluate(
    models: Annotated[list[str], typer.Argument(metavar="MODEL...", help=MODEL_HELP)],
    tasks: Annotated[
        str,
        typer.Option(
            help="bundled, stsb, sts12 to sts16, sickr, sts17, stsb-multi, separated by commas; "
            "stsb-multi:de is one language, sts17:track5.en-en one track."
        ),
    ] = "bundled",
    pooling: Annotated[
        str | None,
        typer.Option(
            help="cls, mean, max, last2, first-last, cls-mlp, separated by commas; mean@2 is the mean at layer 2.",
            show_default="each model's own",
        ),
    ] = None,
    data: Data = None,
    split: Split = None,
    batch_size: BatchSize = 64,
    device: Device = None,
    as_json: AsJson = False,
) -> None:
    """Measure how well the cosine of two vectors follows the similarity that people see.

    [dim]Example:[/] isotrope evaluate bundled minilm --tasks stsb,sts12 --pooling mean,cls --data DIR
    """
    poolings = _names(pooling)
    loaded = load_tasks(_names(tasks) or ["bundled"], data, split)
    check_models(models, poolings)
    results = list(_results(models, poolings, loaded, device, split=split, batch_size=batch_size))
    if as_json:
        print_json({"results": results})
    else:
        print_table(_table(results))


def load_tasks(names: list[str], data: Path | None, split: str | None) -> dict[str, Pairs]:
    """The pairs of each task, all there before the first model is loaded."""
    if names != ["bundled"]:
        stay_offline_without_hub()
    with waiting("Reading tasks"):
        from isotrope.evaluation.sts import load_task

        return {name: load_task(name, data=data, split=split) for name in names}


def _results(
    models: list[str], poolings: list[str], tasks: dict[str, Pairs], device: str | None, **options: Any
) -> Iterator[dict[str, Any]]:
    """One entry for each model under each pooling; a model is loaded once."""
    from isotrope.evaluation.sts import evaluate as measure

    for model in models:
        encoder = load_encoder(model, device=device)
        variants = [encoder.with_pooling(name) for name in poolings] or [encoder]
        with counting(model, len(variants) * len(tasks)) as advance:
            for variant in variants:
                found = {}
                for task, pairs in tasks.items():
                    advance(0, f"{model}, {variant.pooling}: {task}")
                    found[task] = measure(variant, pairs, **options)
                    advance(1)
                yield {
                    "model": model,
                    "pooling": str(variant.pooling),
                    "tasks": {task: result.as_json() for task, result in found.items()},
                    "average": round(mean(result.spearman["all"] for result in found.values()), 2),
                }


def _table(results: list[dict[str, Any]]) -> Table:
    tasks = results[0]["tasks"]
    table = Table("Model", "Pooling", title="Spearman x 100", title_justify="left")
    columns = []
    for task, first in tasks.items():
        table.add_column(f"{escape(task)}\n[dim]{first['split']}, {first['pairs']:,} pairs[/]", justify="right")
        columns.append([entry["tasks"][task]["spearman"]["all"] for entry in results])
    if len(tasks) > 1:
        table.add_column("Average", justify="right")
        columns.append([entry["average"] for entry in results])
    for i, entry in enumerate(results):
        best = [len(column) > 1 and column[i] == max(column) for column in columns]
        figures = (f"{'[bold]' if b else ''}{column[i]:.2f}" for b, column in zip(best, columns, strict=True))
        table.add_row(escape(entry["model"]), entry["pooling"], *figures)
    return table


def _names(text: str | None) -> list[str]:
    """`"a, b,a"` -> `["a", "b"]`."""
    return list(dict.fromkeys(name.strip() for name in (text or "").split(",") if name.strip()))
