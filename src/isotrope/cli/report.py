"""`isotrope report`: one page about a run, or about several side by side; also written at the end of a run."""

from pathlib import Path
from typing import Annotated, Any

import typer

from isotrope.cli import console
from isotrope.cli.options import AsJson, Column, Device, Force, Join, JoinedColumns, StripHtml
from isotrope.io.atomic import check_output
from isotrope.io.errors import IsotropeError

PAGES, TABLES = (".html", ".htm"), (".parquet",)
SEVERAL = Path("report.html")  # in the working folder: several runs have no folder in common

WithReport = Annotated[
    bool, typer.Option("--report/--no-report", help="Write report.html, a page that shows what changed, to the folder.")
]


def report(
    runs: Annotated[
        list[Path],
        typer.Argument(metavar="RUN...", help="Folders of finished runs, made by train, train --seeds or tune."),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="The .html file.", show_default="RUN/report.html; for several runs ./report.html"
        ),
    ] = None,
    parquet: Annotated[
        Path | None,
        typer.Option(help="Also write the map as .parquet: text, x, y, columns, vector; embedding-atlas opens it."),
    ] = None,
    text: Annotated[
        str | None,
        typer.Option(
            help="Another text to report on: .txt, .csv, .tsv, .jsonl or .parquet.", show_default="the run's own"
        ),
    ] = None,
    column: Column = None,
    columns: JoinedColumns = None,
    join: Join = None,
    strip_html: StripHtml = False,
    texts: Annotated[
        int | None, typer.Option(min=10, help="How many texts to show.", show_default="a few hundred")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Another seed picks other texts.")] = 0,
    device: Device = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Write a page about a run: verdict, neighbours before and after, map, charts. Several runs are compared.

    [dim]Example:[/] isotrope report runs/tickets --parquet tickets-map.parquet
    """
    target = output if output or len(runs) == 1 else SEVERAL
    if target:
        check_output(target, PAGES, force=force)
    if parquet:
        check_output(parquet, TABLES, force=force)
    with console.waiting("Starting"):
        from isotrope.reporting.report import report as look

    options: dict[str, Any] = {"column": column, "columns": columns, "join": join, "strip_html": strip_html}
    with console.waiting("Encoding the text"):
        found = look(list(runs), text=text, texts=texts, seed=seed, device=device, **options)
        written = found.write(target, force=force)
    if parquet:
        found.parquet(parquet, force=force)
    console.print_result(found, as_json=as_json)
    for path in (written, parquet):
        console.print_written(path, as_json=as_json)


def write_report(run: Any, output: Path, device: str | None) -> str | None:
    """At the end of a run, of `Seeds` or of a tuning. A report that fails is no reason for the run to fail."""
    from isotrope.reporting.report import REPORT
    from isotrope.reporting.report import report as look

    with console.waiting("Writing the report"):
        try:
            return str(look(run, device=device).write(output / REPORT, force=True))
        except IsotropeError as error:
            typer.echo(f"No report: {error.for_shell}", err=True)
            return None
