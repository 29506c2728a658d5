"""What commands print on standard output; `counting` and `waiting` show on standard error how far they are."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console
from rich.table import Table

from isotrope.io.names import RUN
from isotrope.io.progress import Display, waiting

if TYPE_CHECKING:
    from isotrope.evaluation.results.printing import Printable

__all__ = ["counting", "many", "print_json", "print_result", "print_table", "print_written", "resumable", "waiting"]


def many(count: int, noun: str) -> str:
    """`1 line`, `2,000 lines`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def print_json(value: Any) -> None:
    """One JSON object on standard output."""
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False))


def print_table(table: Table) -> None:
    """A table on standard output; in a file or a pipe as wide as it needs to be."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = 1000
    console.print(table)


def print_result(result: Printable, *, as_json: bool = False) -> None:
    """What the library found: its tables and lines, or its JSON."""
    if as_json:
        typer.echo(result.json(), nl=False)
        return
    for part in result.parts():
        if isinstance(part, Table):
            print_table(part)
        else:
            typer.echo(part)


def print_written(path: Path | None, *, as_json: bool = False) -> None:
    """Which file was written, if any; on standard error where standard output is JSON."""
    if path is not None:
        typer.echo(f"Written: {path}", err=as_json)


@contextmanager
def resumable(folder: Path) -> Iterator[None]:
    """Says how to go on where a signal ends what has begun in a run folder; the loop of a run says it by itself."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        if (folder / RUN).is_file():
            typer.echo("Stopped; continue with --resume", err=True)
        raise


def counting(title: str, total: int | None) -> Display:
    """A bar over `total` things, or over nobody knows how many; on a terminal only."""
    return Display(title, total)
