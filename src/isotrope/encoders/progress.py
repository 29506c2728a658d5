"""A counting bar over an iterable of known or unknown length."""

from __future__ import annotations

from collections.abc import Iterable, Sized
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

Item = TypeVar("Item")


def progress(items: Iterable[Item], title: str, *, shown: bool, total: int | None = None) -> Iterable[Item]:
    """The items, with a bar on standard error while they are taken. On no terminal nothing is drawn."""
    console = Console(stderr=True)
    if not (shown and console.is_terminal):
        yield from items
        return
    total = len(items) if total is None and isinstance(items, Sized) else total
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeRemainingColumn(), console=console, transient=True) as bar:
        yield from bar.track(items, total=total, description=title)
