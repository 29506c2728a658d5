"""Columns that a stage reads and its text lacks, made on first use: `views.texts`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from isotrope.io.errors import IsotropeError
from isotrope.io.progress import Display
from isotrope.recipes.schema import Stage
from isotrope.text.files import Row
from isotrope.text.sources import Source, matching_rows
from isotrope.text.units import Units
from isotrope.views.text import TextView, TextViewSpec, count_texts, write_views


def made_columns(stage: Stage) -> dict[str, TextViewSpec]:
    """The columns that a stage reads and its `views.texts` can make."""
    return {name: stage.views.texts[name] for name in stage.made_columns}


def with_text_views(
    sources: Sequence[Source], stage: Stage, column: str | None, folder: Path, units: Units
) -> tuple[list[Source], str | None]:
    """The sources and what they call `text`; in place of a source that has a `text` and not all the columns, a table
    with what was made of it.

    What was made before comes out of the cache. The tables are kept in `folder`. `units` splits the texts first.
    """
    wanted = made_columns(stage)
    if not wanted:
        return list(sources), column
    given: list[Source] = []
    for number, source in enumerate(sources, 1):
        if not _has(source, stage.columns, column) and _has(source, ("text",), column):
            views = {name: _make(name, view) for name, view in wanted.items()}
            table = folder / f"views-{number}.parquet"
            folder.mkdir(parents=True, exist_ok=True)
            texts = _InUnits(source, column, units)
            with Display("views", count_texts([texts]), unit="rows") as progress:
                write_views([texts], views, table, progress=progress)
            given.append(table)
        else:
            given.append(_Renamed(source, stage.columns, column) if column else source)
    return given, None


def _make(name: str, view: TextViewSpec) -> TextView:
    try:
        return view.make()
    except IsotropeError as reason:
        raise IsotropeError(f"column {name} is missing and can't be made here: {reason}") from reason


@dataclass(frozen=True)
class _Renamed:
    """A source's rows under the stage's own names."""

    source: Source
    columns: tuple[str, ...]
    column: str

    def __iter__(self) -> Iterator[Row]:
        _, rows = next(matching_rows([self.source], self.columns, self.column))
        return rows


@dataclass(frozen=True)
class _InUnits:
    """A source's texts, whole or in sentences."""

    source: Source
    column: str | None
    units: Units

    def __iter__(self) -> Iterator[Row]:
        name, rows = next(matching_rows([self.source], ("text",), self.column))
        return self.units.rows(name, rows)


def _has(source: Source, columns: tuple[str, ...], column: str | None) -> bool:
    try:
        next(matching_rows([source], columns, column))
    except IsotropeError:  # whatever else may be wrong with it is said when it is read
        return False
    return True
