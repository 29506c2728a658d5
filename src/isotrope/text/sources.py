"""Where the rows of a corpus come from: files, data sets of the Hub, sentences and rows in memory."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

from isotrope.io.errors import IsotropeError, nearest
from isotrope.text.files import Row, file_kind, read_table, text_column

log = logging.getLogger(__name__)

Source: TypeAlias = str | Path | Iterable[str] | Iterable[Row]
HUB = "hub:"
NLI_NAMES = {"sentence1": ("premise",), "sentence2": ("hypothesis",)}
SHOWN = 3  # sources that a message names


def matching_rows(
    sources: Sequence[Source], columns: tuple[str, ...], column: str | None = None
) -> Iterator[tuple[str, Iterator[Row]]]:
    """Each source that has the columns: its name, and its rows under the names in `columns`.

    `column` is what the tables call `text`. Sources without the columns are passed over; if all are, that is an error.
    One source is open at a time, and read once.
    """
    lacking = []
    for source in sources:
        name, kind, rows = _open(source)
        first = next(rows, None)
        if first is None:
            raise IsotropeError(f"{name}: no {kind_of(columns)} in it")
        named = None if kind == "txt" and len(sources) > 1 else column  # plain text beside tables has just its lines
        try:
            names = _find_columns(first, columns, named, name, kind)
        except IsotropeError as reason:
            log.info("not used: %s", reason)
            lacking.append(str(reason))
        else:
            yield name, _renamed(chain([first], rows), names, name)
    if len(lacking) == len(sources):
        raise IsotropeError(shown(lacking, " / ") or "no text was given")


def as_sources(text: Any) -> list[Source]:
    """What a caller gives as text (a file, several as `Path`, or sentences or rows in memory) as a list of sources."""
    if isinstance(text, str | Path):
        return [text]
    items = list(text)
    return items if items and all(isinstance(item, Path) for item in items) else [items]


def kind_of(columns: tuple[str, ...]) -> str:
    """What rows with these columns are called: sentences, pairs, triplets, labelled pairs ..."""
    texts = len(text_columns(columns))
    kind = {1: "sentences", 2: "pairs", 3: "triplets"}.get(texts, "rows")
    return f"labelled {kind}" if "label" in columns else kind


def shown(names: Sequence[str], separator: str = ", ") -> str:
    """The names in one line; of many, the first few."""
    more = [f"and {len(names) - SHOWN} more"] if len(names) > SHOWN else []
    return separator.join([*names[:SHOWN], *more])


def text_columns(columns: tuple[str, ...]) -> tuple[str, ...]:
    """Those that hold text: all but `label`."""
    return tuple(column for column in columns if column != "label")


def _open(source: Source) -> tuple[str, str, Iterator[Row]]:
    """A source's name for people, its kind and its rows. What is not a file has columns as well named as jsonl has."""
    if not isinstance(source, str | Path):
        name = "the given text"
        return name, "jsonl", _memory_rows(source, name)
    if str(source).startswith(HUB):
        return str(source), "jsonl", _hub_rows(str(source))
    name = "standard input" if str(source) == "-" else str(source)
    return name, file_kind(source), read_table(source)


def _memory_rows(source: Iterable[str] | Iterable[Row], name: str) -> Iterator[Row]:
    for number, item in enumerate(source, 1):
        if isinstance(item, str):
            yield {"text": item}
        elif isinstance(item, dict):
            yield item
        else:
            raise IsotropeError(f"{name}: row {number}: {item!r:.40} is neither a sentence nor a row with columns")


def _hub_rows(source: str) -> Iterator[Row]:
    """`hub:org/name` or `hub:org/name:split`, streamed. Whatever goes wrong on the way there is told in one line."""
    from datasets import ClassLabel, load_dataset  # slow to import

    path, _, split = source.removeprefix(HUB).partition(":")
    try:
        rows: Any = load_dataset(path, split=split or "train", streaming=True)
        label = (rows.features or {}).get("label")
        names = label.names if isinstance(label, ClassLabel) else None
        for row in rows:
            if names and row["label"] is not None and row["label"] >= 0:
                row["label"] = names[row["label"]]  # the data set's own order of labels may be another than ours
            yield row
    except Exception as error:
        raise IsotropeError(f"{source}: can't be read ({' '.join(str(error).split())[:200]})") from error


def _find_columns(first: Row, columns: tuple[str, ...], column: str | None, where: str, kind: str) -> dict[str, str]:
    """Which column of the source is which of `columns`, judged by its first row."""
    if kind == "txt" and column:
        raise IsotropeError(f"{where}: plain text has no columns; leave out --column")
    if column and column not in first:
        raise IsotropeError(f"{where}: no column '{column}'{nearest(column, first)}; it has: {', '.join(first)}")
    names = {wanted: column if column and wanted == "text" else _spelt(wanted, first) for wanted in columns}
    if columns == ("text",) and not column:
        names["text"] = text_column(first, kind, where)
    missing = [name for name in names.values() if name not in first]
    if missing:
        said = f"column {missing[0]} is missing" if len(missing) == 1 else f"columns {', '.join(missing)} are missing"
        there = "plain sentences given" if set(first) == {"text"} else f"it has: {', '.join(first)}"
        raise IsotropeError(f"{where}: the recipe needs {kind_of(columns)}: {said}; {there}")
    return names


def _spelt(wanted: str, first: Row) -> str:
    """The column under its own name, or as NLI data sets call it."""
    return wanted if wanted in first else next((name for name in NLI_NAMES.get(wanted, ()) if name in first), wanted)


def _renamed(rows: Iterable[Row], names: dict[str, str], where: str) -> Iterator[Row]:
    for number, row in enumerate(rows, 1):
        for name in names.values():
            if name not in row:
                raise IsotropeError(f"{where}: row {number}: no column '{name}'; it has: {', '.join(row)}")
        yield {wanted: row[name] for wanted, name in names.items()}
