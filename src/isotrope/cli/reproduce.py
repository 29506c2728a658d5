"""`isotrope reproduce`: the papers' tables, figures and claims, run here and set beside what is published."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.markup import escape
from rich.table import Table

from isotrope.cli import console
from isotrope.cli.models import MODEL_HELP, prepare_hub
from isotrope.cli.options import AsJson, Data
from isotrope.cli.settings import read_settings
from isotrope.io.errors import IsotropeError
from isotrope.io.hub import stay_offline_without_hub

LIST, CLAIMS = "list", "claims"
Name = Annotated[
    str,
    typer.Argument(
        metavar="TABLE", help="A table such as sg-opt/table1, `list` to list them all, or `claims` to check the claims."
    ),
]
ModelName = Annotated[
    str | None,
    typer.Option(
        "--model", "-m", help=f"Used instead of the paper's main encoder: {MODEL_HELP}", show_default="the paper's"
    ),
]
Seeds = Annotated[int | None, typer.Option(min=1, help="Runs per row.", show_default="as many as the paper has")]
Rows = Annotated[
    list[str] | None,
    typer.Option(help="Only rows with this name, or with this word in their name. Repeatable.", show_default="all"),
]
Columns = Annotated[str | None, typer.Option(help="Only these columns, separated by commas.", show_default="all")]
BudgetOption = Annotated[
    Literal["quick", "full"],
    typer.Option(help="full: the recipes' own steps. quick: a few, to see that everything runs."),
]
TextOption = Annotated[
    str | None, typer.Option(help="Text to train on: a file, or a name such as stsb.", show_default="the table's")
]
TextsOption = Annotated[
    int | None, typer.Option(min=1, help="Use only this many texts, drawn at random.", show_default="all")
]
Teacher = Annotated[str | None, typer.Option(help="The model that teaches, for recipes that have one.")]
StandIns = Annotated[
    list[str] | None,
    typer.Option(
        "--stand-in",
        metavar="NAME=MODEL",
        help="A model to use instead of another encoder of the paper: xlm-roberta-base=bundled. Repeatable.",
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Change a field of every recipe: training.steps=60. Repeatable."),
]
Output = Annotated[
    Path, typer.Option("--output", "-o", help="Folder for all runs and tables; finished runs are reused.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only say what would run, and how long it would take.")]
Paper = Annotated[
    Literal["sg-opt", "consert", "bsl", "parallel"] | None,
    typer.Option(help="Only the claims of this paper.", show_default="all"),
]


def reproduce(
    name: Name,
    model: ModelName = None,
    seeds: Seeds = None,
    rows: Rows = None,
    columns: Columns = None,
    budget: BudgetOption = "full",
    text: TextOption = None,
    texts: TextsOption = None,
    teacher: Teacher = None,
    stand_ins: StandIns = None,
    settings: Settings = None,
    data: Data = None,
    output: Output = Path("runs/reproduce"),
    dry_run: DryRun = False,
    paper: Paper = None,
    as_json: AsJson = False,
) -> None:
    """Reproduce a table, a figure or the claims of a paper, next to the published figures.

    [dim]Example:[/] isotrope reproduce sg-opt/table5 --model bundled --seeds 3 --data DIR
    """
    if name == LIST:
        _list(as_json)
        return
    if paper and name != CLAIMS:
        raise IsotropeError("--paper is for claims; a table belongs to one paper")
    if name == CLAIMS and (rows or dry_run):
        raise IsotropeError(f"{'--rows' if rows else '--dry-run'} is for tables; claims name their own rows")
    given: dict[str, Any] = {"budget": budget, "text": text, "texts": texts, "teacher": teacher}
    given |= {"stand_ins": _stand_ins(stand_ins), "set": read_settings(settings)}
    given |= {"columns": _words(columns), "data": data, "output": output}
    if name == CLAIMS:
        _prepare(model or "bundled")
        from isotrope.papers.checking import check_claims

        console.print_result(
            check_claims(paper=paper, model=model or "bundled", seeds=seeds or 3, **given), as_json=as_json
        )
        return
    from isotrope.papers.published import published

    _prepare(model or published(name).model)
    from isotrope.papers.reproduction import reproduce as run

    found = run(name, model=model, seeds=seeds, rows=rows or (), dry_run=dry_run, **given)
    console.print_result(found, as_json=as_json)


def _prepare(model: str) -> None:
    prepare_hub([model])
    stay_offline_without_hub()


def _list(as_json: bool) -> None:
    from isotrope.papers.published import reproductions

    if as_json:
        console.print_json([one.model_dump(mode="json") for one in reproductions()])
        return
    table = Table("Name", "Paper", "Rows", "Can be run", "What it shows")
    table.columns[0].no_wrap = True
    for one in reproductions():
        counts = (str(len(one.rows)), str(len(one.can_be_run)))
        table.add_row(one.name, escape(one.paper), *counts, escape(one.caption))
    console.print_table(table)


def _stand_ins(given: list[str] | None) -> dict[str, str]:
    found = {}
    for text in given or ():
        name, _, model = text.partition("=")
        if not name or not model:
            raise IsotropeError(f"--stand-in {text}: write NAME=MODEL, such as xlm-roberta-base=bundled")
        found[name.strip()] = model.strip()
    return found


def _words(text: str | None) -> list[str]:
    return [word.strip() for word in (text or "").split(",") if word.strip()]
