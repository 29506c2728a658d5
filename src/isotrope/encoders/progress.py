"""What is shown while one waits: a counting bar of our own, and silence from transformers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sized
from contextlib import contextmanager
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


@contextmanager
def quiet_transformers() -> Iterator[None]:
    """Without transformers' bars, and without its report of unused weights: a masked-LM head is rightly left out."""
    from transformers.utils import logging  # slow to import

    verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()
