"""Where text comes from: files, standard input, data sets of the Hub, tables of other libraries, lists in memory."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from isotrope.io.errors import IsotropeError, reason
from isotrope.io.hub import split_revision
from isotrope.text.cells import cell_sentence, is_missing
from isotrope.text.files import Row, check_columns, file_kind, read_rows, shown_path
from isotrope.text.frames import dataset_rows, is_table, rows_of_table

log = logging.getLogger(__name__)

# a path, `-`, `hub:org/name[@revision][:config][:split]`; strings or rows (dictionaries); a table or column of
# pandas, polars, Arrow or Hugging Face's `datasets`
Source: TypeAlias = str | Path | Iterable[Any]

HUB = "hub:"
TEXT_COLUMNS = ("text", "sentence")  # taken without asking, in this order
NLI_NAMES = {"sentence1": ("premise",), "sentence2": ("hypothesis",)}
LOOKED_AT = 100  # rows, to find out which column holds text
SHOWN = 3  # sources that a message names


@dataclass
class Counts:
    """What was met on the way; filled while the sentences are read."""

    sentences: int = 0
    blank: int = 0


def read_sentences(source: Source, column: str | None = None, counts: Counts | None = None) -> Iterator[str]:
    """One sentence after another, from a file, a list, a table or a column of one.

    `column` names the column of a table; `text` or `sentence` needs no naming. Blank lines and missing cells (None,
    NaN, pandas' NA) are skipped, and counted in `counts`. A source without a sentence is an error.

    >>> list(read_sentences(["A dog barks.", None, "A cat sleeps."]))
    ['A dog barks.', 'A cat sleeps.']
    """
    counts = counts if counts is not None else Counts()
    before = counts.sentences
    for name, rows in matching_rows([source], ("text",), column):
        for row in rows:
            if row["text"] is None:
                counts.blank += 1
            else:
                counts.sentences += 1
                yield row["text"]
        if counts.sentences == before:
            raise IsotropeError(f"{name}: no sentences in it (blank lines only)")


def as_sources(text: Any) -> list[Source]:
    """What a caller gave as text -> the sources that it consists of: one, or several files or tables in a list."""
    if isinstance(text, str | Path) or is_table(text):
        return [text]
    items = list(text)
    several = items and all(isinstance(item, Path) or is_table(item) or _own_name(item) for item in items)
    return items if several else [items]


def matching_rows(
    sources: Sequence[Source], columns: tuple[str, ...], column: str | None = None
) -> Iterator[tuple[str, Iterator[Row]]]:
    """Each source that has the columns: its name, and its rows under the names in `columns`.

    A text is a string without the blanks around it, or None where it is missing; a blank line is a row of None.
    `column` is what the tables call `text`. Sources without the columns are passed over; if all are, that is an error.
    One source is open at a time, and read once.
    """
    lacking = []
    for source in sources:
        name, kind, rows = _open(source)
        taken, example = _peek(rows, {*columns, *TEXT_COLUMNS, column})
        if example is None:
            only = " (blank lines only)" if taken else ""
            raise IsotropeError(f"{name}: no {kind_of(columns)} in it{only}")
        named = None if kind == "txt" and len(sources) > 1 else column  # plain text beside tables has just its lines
        try:
            names = _find_columns(example, columns, named, name, kind)
        except IsotropeError as error:
            log.info("not used: %s", error)
            lacking.append(error)
        else:
            yield name, _renamed(chain(taken, rows), names, name)
    if len(lacking) == len(sources):
        said = shown([str(error) for error in lacking], " / ") or "no text was given"
        raise IsotropeError(said, argument=lacking[0].argument if len(lacking) == 1 else "")


def find_text_column(example: Row, column: str | None, where: str, kind: str) -> str:
    """Which column of a table holds the sentences, by one of its rows."""
    return _find_columns(example, ("text",), column, where, kind)["text"]


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


def source_name(source: Source) -> str:
    """A source as messages call it."""
    if isinstance(source, str | Path):
        return str(source) if str(source).startswith(HUB) else shown_path(source)
    return _own_name(source) or (f"the given {type(source).__name__}" if is_table(source) else "the given text")


def source_rows(source: Source) -> tuple[str, Iterator[Row]]:
    """A source's name for people, and its rows as they are, without blank lines."""
    opened = _open(source)
    return opened.name, (row for row in opened.rows if row is not None)


class _Opened(NamedTuple):
    name: str  # for people
    kind: str  # of file; what is no file has columns as well named as jsonl has
    rows: Iterator[Row | None]  # None for a blank line


def _open(source: Source) -> _Opened:
    name = source_name(source)
    if isinstance(source, str | Path):
        if str(source).startswith(HUB):
            return _Opened(name, "jsonl", hub_rows(str(source)))
        return _Opened(name, file_kind(source), read_rows(source))
    rows = rows_of_table(source)
    return _Opened(name, "jsonl", _memory_rows(source, name) if rows is None else rows)


def _own_name(source: Any) -> str:
    """What a source of our own, which reads from another, calls itself."""
    return str(getattr(source, "source_name", ""))


def _memory_rows(source: Iterable[Any], name: str) -> Iterator[Row]:
    if isinstance(source, Mapping) or not isinstance(source, Iterable):
        raise IsotropeError(f"{name}: a {type(source).__name__}, where sentences, rows or a table are needed")
    for number, item in enumerate(source, 1):
        if isinstance(item, dict):
            yield item
        elif isinstance(item, str) or is_missing(item):
            yield {"text": item}
        else:
            raise IsotropeError(f"{name}: row {number}: {item!r:.40} is neither a sentence nor a row with columns")


def hub_rows(source: str) -> Iterator[Row]:
    """`hub:org/name[@revision][:config][:split]`, streamed. Whatever goes wrong on the way is told in one line."""
    from datasets import load_dataset  # slow to import

    path, config, split = hub_parts(source)
    path, revision = (path, None) if Path(path).is_dir() else split_revision(path)
    try:
        opened = load_dataset(path, config, split=split, revision=revision, streaming=True)
        yield from dataset_rows(opened, source)
    except Exception as error:
        raise IsotropeError(f"{source}: can't be read ({reason(error)})") from error


def hub_parts(source: str) -> tuple[str, str | None, str]:
    """The data set, its configuration and its split: of one word behind the name, that is the split.

    >>> hub_parts("hub:org/name"), hub_parts("hub:org/name:test"), hub_parts("hub:org/name:de:dev")
    (('org/name', None, 'train'), ('org/name', None, 'test'), ('org/name', 'de', 'dev'))
    """
    path, *words = source.removeprefix(HUB).split(":")
    if len(words) > 2:
        raise IsotropeError(
            f"{source}: a data set of the Hub is hub:org/name, hub:org/name:split or hub:org/name:config:split; "
            "a revision of it hub:org/name@revision"
        )
    config = words[0] if len(words) == 2 and words[0] else None
    return path, config, (words[-1] if words else "") or "train"


def _peek(rows: Iterator[Row | None], known: set[str | None]) -> tuple[list[Row | None], Row | None]:
    """The first rows, and one row to judge the columns by: the first one, with what it lacks from those after it.

    One row is enough where it has a column that is `known`: who types sentences into a pipe waits for nothing.
    """
    taken: list[Row | None] = []
    example: Row | None = None
    for row in rows:
        taken.append(row)
        if row is None:
            continue
        lacking = {name: value for name, value in row.items() if example is None or is_missing(example.get(name))}
        example = {**(example or {}), **lacking}
        if known & example.keys() or not any(map(is_missing, example.values())) or len(taken) >= LOOKED_AT:
            break
    return taken, example


def _find_columns(example: Row, columns: tuple[str, ...], column: str | None, where: str, kind: str) -> dict[str, str]:
    """Which column of the source is which of `columns`."""
    if kind == "txt" and column:
        raise IsotropeError(f"{where}: plain text has no columns; leave out column=", argument="column=")
    check_columns(example, [column] if column else [], where)
    names = {wanted: column if column and wanted == "text" else _spelt(wanted, example) for wanted in columns}
    if columns == ("text",) and not column:
        names["text"] = _text_column(example, kind, where)
    missing = [name for name in names.values() if name not in example]
    if missing:
        said = f"column {missing[0]} is missing" if len(missing) == 1 else f"columns {', '.join(missing)} are missing"
        there = "plain sentences given" if set(example) == {"text"} else f"it has: {', '.join(example)}"
        raise IsotropeError(f"{where}: the recipe needs {kind_of(columns)}: {said}; {there}")
    return names


def _text_column(example: Row, kind: str, where: str) -> str:
    """Which column holds the sentences."""
    for name in TEXT_COLUMNS:
        if name in example:
            return name
    texts = [name for name, value in example.items() if isinstance(value, str) and not _is_number(value)]
    if not texts:
        raise IsotropeError(f"{where}: no column with text; it has: {', '.join(example)}")
    if len(texts) == 1 and kind in ("jsonl", "parquet"):  # a .csv may lack its header: the name could be a sentence
        return texts[0]
    raise IsotropeError(f"{where}: which column? Name one with column=: {', '.join(texts)}", argument="column=")


def _is_number(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True


def _spelt(wanted: str, example: Row) -> str:
    """The column under its own name, or as NLI data sets call it."""
    names = (wanted, *NLI_NAMES.get(wanted, ()))
    return next((name for name in names if name in example), wanted)


def _renamed(rows: Iterable[Row | None], names: dict[str, str], where: str) -> Iterator[Row]:
    blank: Row = dict.fromkeys(names)
    read = {wanted: _label if wanted == "label" else cell_sentence for wanted in names}
    columns = [(wanted, name, f"column '{name}'") for wanted, name in names.items()]
    for number, row in enumerate(rows, 1):
        if row is None:
            yield blank
            continue
        try:
            found = {wanted: read[wanted](row[name], column) for wanted, name, column in columns}
        except KeyError:
            check_columns(row, names.values(), f"{where}: row {number}")
            raise
        except IsotropeError as error:
            raise IsotropeError(f"{where}: row {number}: {error}") from error
        yield found


def _label(value: Any, where: str) -> Any:
    return None if is_missing(value) else value
