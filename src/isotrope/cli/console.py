"""What commands print: results on standard output; bars and spinners on standard error, on a terminal only."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, Protocol

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn
from rich.table import Table

if TYPE_CHECKING:
    from isotrope.evaluation.results.printing import Printable


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


def waiting(title: str) -> AbstractContextManager[Any]:
    """A spinner for something of unknown length."""
    return Console(stderr=True).status(f"{escape(title)} ...")


class Advance(Protocol):
    """Moves a bar."""

    def __call__(self, more: int, now: str | None = None) -> None:
        """`more` are done; `now` is what comes next."""


@contextmanager
def counting(title: str, total: int | None) -> Iterator[Advance]:
    """A bar over `total` things, or over nobody knows how many."""
    console = Console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
    with Progress(
        *columns, TimeRemainingColumn(), console=console, transient=True, disable=not console.is_terminal
    ) as bar:
        task = bar.add_task(title, total=total)

        def advance(more: int, now: str | None = None) -> None:
            bar.update(task, advance=more, description=now)

        yield advance
