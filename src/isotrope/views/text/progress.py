"""What one sees while views are made: a bar on a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

LINE_SECONDS = 10  # without a terminal, no more than one line in so many seconds


@contextmanager
def watching(title: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """Shows how far it is, how fast, and how long it will take yet; to be told of every few rows that are done."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _Lines(console, title, total)
        return
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), _Rate())
    with Progress(*columns, TimeRemainingColumn(), console=console, transient=True) as bar:
        task = bar.add_task(title, total=total)
        yield lambda rows: bar.advance(task, rows)


class _Rate(ProgressColumn):
    def render(self, task: Task) -> Text:
        return Text(f"{task.speed:,.0f} rows/s" if task.speed else "")


class _Lines:
    """The rate is that of the rows since the last line: what comes out of the cache says nothing about the rest."""

    def __init__(self, console: Console, title: str, total: int | None) -> None:
        self.console, self.title, self.total = console, title, total
        self.done = self.told = 0
        self.when = time.monotonic()

    def __call__(self, rows: int) -> None:
        self.done += rows
        seconds = time.monotonic() - self.when
        if seconds < LINE_SECONDS:
            return
        rate = (self.done - self.told) / seconds
        self.told, self.when = self.done, time.monotonic()
        much = f"{self.done:,} of {self.total:,} rows" if self.total else f"{self.done:,} rows"
        left = f", {(self.total - self.done) / rate:,.0f} s left" if self.total else ""
        self.console.print(f"{self.title}: {much}, {rate:,.0f} rows/s{left}", highlight=False, soft_wrap=True)
