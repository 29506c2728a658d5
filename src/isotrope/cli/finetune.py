"""`isotrope finetune`: whether a tuned encoder is still as good a beginning for supervised fine-tuning."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import mean, stdev
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from isotrope.cli.console import counting, print_json, print_table, waiting
from isotrope.cli.models import MODEL_HELP, check_models, load_transformer
from isotrope.cli.options import AsJson, Data, Device
from isotrope.io.errors import IsotropeError
from isotrope.io.hub import stay_offline_without_hub

if TYPE_CHECKING:
    from isotrope.encoders import Encoder
    from isotrope.evaluation.finetuning import FineTuned, Glue


def finetune(
    model: Annotated[str, typer.Argument(metavar="MODEL", help=MODEL_HELP)],
    task: Annotated[str, typer.Option(help="qnli, sst2, cola, mrpc or rte.")],
    data: Data = None,
    seeds: Annotated[str, typer.Option(help="One run for each, separated by commas.")] = "1",
    epochs: Annotated[int, typer.Option(min=1, help="Passes over the training rows.")] = 3,
    learning_rate: Annotated[float, typer.Option(min=0, help="Falls to 0 over the run.")] = 2e-5,
    batch_size: Annotated[int, typer.Option(min=1, help="Training rows at a time.")] = 32,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Just so many rows of each split, to try it out.", show_default="all")
    ] = None,
    device: Device = None,
    as_json: AsJson = False,
) -> None:
    """Fine-tune a copy of a model on a task of GLUE; the model itself stays as it is.

    The first tenth of the validation set chooses the epoch, the rest is tested on.

    [dim]Example:[/] isotrope finetune bundled --task rte --seeds 1,2,3
    """
    numbers = _seeds(seeds)
    stay_offline_without_hub()
    with waiting(f"Reading {task}"):
        from isotrope.evaluation.finetuning import load_glue

        glue = load_glue(task, data=data)
    check_models([model])
    options = {"epochs": epochs, "learning_rate": learning_rate, "batch_size": batch_size, "limit": limit}
    results = list(_results(load_transformer(model, device=device), task, glue, numbers, options))
    if as_json:
        print_json(_as_json(model, task, glue, results))
        return
    if glue.note:
        typer.echo(f"Note: {glue.note}", err=True)
    rows = ", ".join(f"{split} {rows:,}" for split, rows in results[0].rows.items())
    typer.echo(f"{model} on {task}, x 100 ({rows} rows)")
    print_table(_table(results))


def _results(encoder: Encoder, task: str, glue: Glue, seeds: list[int], options: dict[str, Any]) -> Iterator[FineTuned]:
    from isotrope.evaluation.finetuning import fine_tune

    with counting(task, len(seeds)) as advance:
        for seed in seeds:

            def stepped(done: int, steps: int, seed: int = seed) -> None:
                advance(0, f"{task}, seed {seed}: step {done:,} of {steps:,}")

            yield fine_tune(encoder, task, data=glue, seed=seed, stepped=stepped, **options)
            advance(1)


def _table(results: list[FineTuned]) -> Table:
    table = Table("Seed")
    for name in (*results[0].test, "dev"):
        table.add_column(name, justify="right")
    figures = [[*result.test.values(), result.dev] for result in results]
    for result, line in zip(results, figures, strict=True):
        table.add_row(str(result.seed), *(f"{figure:.2f}" for figure in line))
    if len(results) > 1:
        table.add_section()
        columns = zip(*figures, strict=True)
        table.add_row("mean ± sd", *(f"[bold]{mean(column):.2f}[/] ± {stdev(column):.2f}" for column in columns))
    return table


def _as_json(model: str, task: str, glue: Glue, results: list[FineTuned]) -> dict[str, Any]:
    scores = [result.score for result in results]
    spread = {"deviation": round(stdev(scores), 2)} if len(scores) > 1 else {}
    found = {"metric": next(iter(results[0].test)), "mean": round(mean(scores), 2), **spread}
    note = {"note": glue.note} if glue.note else {}
    return {"model": model, "task": task, **found, **note, "runs": [result.as_json() for result in results]}


def _seeds(text: str) -> list[int]:
    try:
        return list(dict.fromkeys(int(seed) for seed in text.split(",")))
    except ValueError as error:
        raise IsotropeError(f"--seeds takes whole numbers separated by commas, not '{text}'") from error
