"""Whether text can be read at all: what is wrong with it is said before anything slow is loaded."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path

from isotrope.text.shaping import Shape, shaped
from isotrope.text.sources import HUB, matching_rows, source_rows

FIRST_ROWS = 100_000  # of each file; a mistake behind them is found when all is read


def check_readable(
    files: Sequence[str | Path], shape: Shape, column: str | None = None, columns: tuple[str, ...] | None = None
) -> None:
    """Raises what reading the files would raise later, as far as their first rows show it.

    `columns` are those that will be read; None: not known yet. Standard input can be read once only, and the Hub is
    slow: with one of them among the files, the columns are left for later too.
    """
    here = [Path(file) for file in files if str(file) != "-" and not str(file).startswith(HUB)]
    sources = shaped(here, shape)
    if columns is not None and len(here) == len(files):
        for _, rows in matching_rows(sources, columns, column):
            _read(rows)
        return
    for source in sources:
        _read(source_rows(source)[1])


def _read(rows: Iterable[object]) -> None:
    for _ in islice(rows, FIRST_ROWS):
        pass
