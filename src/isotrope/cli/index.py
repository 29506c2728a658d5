"""`isotrope index` and `isotrope search`: a table, searchable by meaning."""

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from isotrope.cli import console
from isotrope.cli.console import many
from isotrope.cli.models import MODEL_HELP, check_models
from isotrope.cli.options import AsJson, BatchSize, Column, Device, Join, JoinedColumns, Precision, StripHtml


def index(
    table: Annotated[str, typer.Argument(metavar="TABLE", help="Text: .csv, .tsv, .jsonl, .parquet or .txt; or -.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the index; if it exists, rows are added.")],
    model: Annotated[str, typer.Option("--model", "-m", help=MODEL_HELP)] = "small",
    column: Column = None,
    columns: JoinedColumns = None,
    join: Join = None,
    strip_html: StripHtml = False,
    pooling: Annotated[str | None, typer.Option(help="As for encode.", show_default="the model's own")] = None,
    batch_size: BatchSize = 32,
    device: Device = None,
    precision: Precision = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the index by a new one.")] = False,
) -> None:
    """Make a table searchable by meaning, with all its columns, or add new rows to an index.

    [dim]Example:[/] isotrope index tickets.csv --columns Subject,Body --join ". " --output tickets.index
    """
    check_models([model], [pooling] if pooling else [])
    with console.waiting("Starting"):
        from isotrope.retrieval.indexing import index as make

    done = make(
        table,
        model,
        output,
        column=column,
        columns=columns,
        join=join,
        strip_html=strip_html,
        pooling=pooling,
        batch_size=batch_size,
        device=device,
        precision=precision,
        force=force,
        show_progress=True,
    )
    how = "approximate (graph)" if done.approximate else "exact"
    blank = f" ({done.blank:,} without text)" if done.blank else ""
    known = f"; {done.added:,} added{blank}, {done.known:,} already there" if done.known else blank
    typer.echo(f"{done.path}: {many(done.rows, 'row')}{known}, search is {how}")
    typer.echo(f'Next: isotrope search {shlex.quote(str(done.path))} "what you are looking for"')


def search(
    index: Annotated[Path, typer.Argument(metavar="INDEX", help="Folder of the index.")],
    query: Annotated[str, typer.Argument(metavar="QUERY", help="Any text.")],
    k: Annotated[int, typer.Option("-k", min=1, help="How many rows to find.")] = 10,
    where: Annotated[
        list[str] | None,
        typer.Option(help="A condition on a column: queue=hardware, score>=4, title~printer. Repeatable."),
    ] = None,
    exact: Annotated[
        bool, typer.Option("--exact", help="Compare with every vector, even if the index has a graph.")
    ] = False,
    model: Annotated[
        str | None, typer.Option("--model", "-m", help="Where the index's model is now, if it was moved.")
    ] = None,
    device: Device = None,
    precision: Precision = None,
    as_json: AsJson = False,
) -> None:
    """Find the rows of an index that are closest to a query.

    [dim]Example:[/] isotrope search tickets.index "cannot log in" -k 5 --where queue=access
    """
    with console.waiting("Starting"):
        from isotrope.retrieval.searching import search as find

    options: dict[str, Any] = {"where": where, "exact": exact, "model": model, "device": device, "precision": precision}
    console.print_result(find(index, query, k, **options), as_json=as_json)
