"""`isotrope sweep`: a recipe under every combination of some settings, in one table."""

from pathlib import Path
from typing import Annotated, Any

import typer

from isotrope.cli import console
from isotrope.cli.models import MODEL_HELP, check_models
from isotrope.cli.options import AsJson, Data
from isotrope.cli.reproduce import BudgetOption, DryRun, Settings, Teacher
from isotrope.cli.settings import read_settings
from isotrope.cli.train import check_files
from isotrope.io.errors import IsotropeError
from isotrope.io.hub import stay_offline_without_hub

Grid = Annotated[
    list[str],
    typer.Option("--grid", metavar="KEY=A,B,C", help="Values to try: objective.temperature=0.01,0.05,0.1. Repeatable."),
]
Tasks = Annotated[str | None, typer.Option(help="Tasks to measure besides --dev, separated by commas: stsb,sts12.")]


def sweep(
    recipe: Annotated[str, typer.Argument(metavar="RECIPE", help="A name, name:variant, or a .toml of your own.")],
    corpus: Annotated[str, typer.Argument(metavar="CORPUS", help="Text: .txt, .csv, .tsv, .jsonl or .parquet.")],
    grid: Grid,
    model: Annotated[str, typer.Option("--model", "-m", help=MODEL_HELP)] = "bundled",
    seeds: Annotated[int, typer.Option(min=1, help="Runs per combination.")] = 3,
    dev: Annotated[str | None, typer.Option(help="Graded pairs to choose checkpoints by: bundled, stsb ...")] = None,
    tasks: Tasks = None,
    budget: BudgetOption = "full",
    settings: Settings = None,
    teacher: Teacher = None,
    data: Data = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for all runs.")] = Path("runs/sweep"),
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Run a recipe with every combination of settings, with several seeds, and measure the results.

    [dim]Example:[/] isotrope sweep simcse reviews.txt --grid objective.temperature=0.01,0.05,0.1 --dev bundled
    """
    from isotrope import recipes

    recipes.check_name(recipe)
    check_files([corpus])
    chosen = dict(_read_grid(text) for text in grid)
    if {dev, *_words(tasks)} - {None, "bundled"}:
        stay_offline_without_hub()
    check_models([model])
    with console.waiting("Starting"):
        from isotrope.papers.sweeping import sweep as run
    found = run(
        recipe,
        corpus,
        chosen,
        model=model,
        seeds=seeds,
        dev=dev,
        tasks=_words(tasks),
        budget=budget,
        set=read_settings(settings),
        teacher=teacher,
        data=data,
        output=output,
        dry_run=dry_run,
    )
    console.print_result(found, as_json=as_json)


def _read_grid(text: str) -> tuple[str, list[Any]]:
    """`training.batch_size=16,32` -> its key and values, as TOML writes them."""
    from isotrope.recipes.files import read_value

    key, equals, values = text.partition("=")
    if not key or not equals or not values:
        raise IsotropeError(f"--grid {text}: write KEY=A,B,C, such as objective.temperature=0.01,0.05,0.1")
    return key.strip(), [read_value(value.strip()) for value in values.split(",")]


def _words(text: str | None) -> list[str]:
    return [word.strip() for word in (text or "").split(",") if word.strip()]
