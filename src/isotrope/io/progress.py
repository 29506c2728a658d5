"""The one progress display: on standard error, a bar on a terminal; elsewhere nothing, or a plain line now and then."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sized
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from types import TracebackType
from typing import Any, TypeVar

from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

LINE_SECONDS = 10.0  # without a terminal, no more than one line in so many seconds

Item = TypeVar("Item")
_SILENT: ContextVar[bool] = ContextVar("silent", default=False)


@contextmanager
def silence() -> Iterator[None]:
    """Inside, nothing is shown: for work that is only a means, such as a short run to measure a step."""
    before = _SILENT.set(True)
    try:
        yield
    finally:
        _SILENT.reset(before)


class Display:
    """Shows how far some work has come.

    Call it with the number of things that are done. `total` is None where nobody knows it, `done` what was there
    before (a resumed run). With a `unit` the rate is shown, and a line is printed every few `seconds` where there is no
    terminal; without one nothing is shown there.
    """

    def __init__(
        self,
        title: str,
        total: int | None = None,
        *,
        unit: str = "",
        done: int = 0,
        seconds: float | None = None,
        shown: bool = True,
    ) -> None:
        self.title, self.total, self.unit, self.done, self.figures = title, total, unit, done, ""
        self.console = _console(shown)
        self.seconds = LINE_SECONDS if seconds is None else seconds
        self._told, self._when = done, time.monotonic()
        self._bar: Progress | None = None

    @property
    def drawn(self) -> bool:
        """Whether there is a bar on a terminal."""
        return self._bar is not None

    def __enter__(self) -> Display:
        if self.console.is_terminal and not self.console.quiet:
            texts = (TextColumn("{task.description}", markup=False), TextColumn("{task.fields[figures]}", markup=False))
            columns = (SpinnerColumn(), texts[0], BarColumn(), MofNCompleteColumn(), texts[1], _Rate(self.unit))
            self._bar = Progress(*columns, TimeRemainingColumn(), console=self.console, transient=True)
            self._task = self._bar.add_task(self.title, total=self.total, completed=self.done, figures="")
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def __call__(self, more: int, now: str | None = None, figures: str | None = None) -> None:
        """`more` are done; `now` is a new title, `figures` what is shown beside the count."""
        self.done += more
        self.title = self.title if now is None else now
        self.figures = self.figures if figures is None else figures
        if self._bar is not None:
            self._bar.update(self._task, completed=self.done, description=self.title, figures=self.figures)
        elif self.unit and time.monotonic() - self._when >= self.seconds:
            self.say(self._line())

    def say(self, line: str) -> None:
        """A line of its own, above the bar."""
        self.console.print(line, highlight=False, soft_wrap=True, markup=False)

    def _line(self) -> str:
        """The rate is that since the last line: what came out of a cache says nothing about the rest."""
        rate = (self.done - self._told) / (time.monotonic() - self._when)
        self._told, self._when = self.done, time.monotonic()
        much = f"{self.done:,} of {self.total:,} {self.unit}" if self.total else f"{self.done:,} {self.unit}"
        left = f", {(self.total - self.done) / rate:,.0f} s left" if self.total and rate else ""
        return f"{self.title}: {much}, {rate:,.0f} {self.unit}/s{left}" + (f"  {self.figures}" if self.figures else "")


def progress(items: Iterable[Item], title: str, *, shown: bool, total: int | None = None) -> Iterator[Item]:
    """The items, with a bar while they are taken."""
    total = len(items) if total is None and isinstance(items, Sized) else total
    with Display(title, total, shown=shown) as advance:
        for item in items:
            yield item
            advance(1)


def waiting(title: str, *, shown: bool = True) -> AbstractContextManager[Any]:
    """A spinner for something of unknown length, on a terminal only."""
    return _console(shown).status(f"{escape(title)} ...")


def _console(shown: bool) -> Console:
    return Console(stderr=True, quiet=not shown or _SILENT.get())


class _Rate(ProgressColumn):
    def __init__(self, unit: str) -> None:
        super().__init__()
        self.unit = unit

    def render(self, task: Task) -> Text:
        return Text(f"{task.speed:,.0f} {self.unit}/s" if self.unit and task.speed else "")
