"""Any table with all of its columns, some rows at a time, as Arrow: what comes in can go out again beside vectors.

Types are kept where the source has them. Cells of .txt, .csv and .tsv are text; those of .jsonl and of rows in memory
are typed by what is in them, and as JSON text in a column of mixed types. A blank line is a row of a .txt only.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from isotrope.io.errors import IsotropeError, reason
from isotrope.text.cells import cell_sentence, is_missing
from isotrope.text.files import Row, check_columns, file_kind, read_parquet_batches, read_rows
from isotrope.text.frames import check_names, library_of
from isotrope.text.shaping import Shape
from isotrope.text.sources import HUB, Source, find_text_column, source_name, source_rows

LOOKED_AT = 100  # rows, to find out which column holds text
PLAIN = ("txt", "csv", "tsv")  # kinds of files whose cells are text


class Batches(NamedTuple):
    """A table: its name for people, its Arrow schema, what is made text of, and its rows."""

    name: str
    schema: Any
    columns: tuple[str, ...]  # that hold the text
    batches: Iterator[Any]  # record batches


def record_batches(source: Source, size: int, column: str | None = None, shape: Shape | None = None) -> Batches:
    """The rows of any source, at most `size` at a time. `column` or `shape` name what holds the text."""
    name, shape = source_name(source), shape or Shape()
    if len(shape.columns) > 1 and shape.join is None:
        raise IsotropeError("a row has one text here; say what joins its columns with join=", argument="join=")
    batches = _in_words(_read(source, size), name)
    first = next((batch for batch in batches if batch.num_rows), None)
    if first is None:
        raise IsotropeError(f"{name}: no sentences in it")
    check_names(list(first.schema.names), name)
    if shape.columns:
        check_columns(first.schema.names, shape.columns, name)
    columns = shape.columns or (find_text_column(_example(first), column, name, _kind(source)),)
    return Batches(name, first.schema, columns, chain([first], batches))


def batch_texts(table: Batches, batch: Any, shape: Shape, before: int) -> list[str | None]:
    """The text of each row, None where there is none. `before` rows came before this batch, for messages."""
    cells = [batch.column(batch.schema.get_field_index(one)).to_pylist() for one in table.columns]
    texts = []
    for number, row in enumerate(zip(*cells, strict=True), before + 1):
        try:
            read = [cell_sentence(value, f"column '{one}'") for one, value in zip(table.columns, row, strict=True)]
        except IsotropeError as error:
            raise IsotropeError(f"{table.name}: row {number}: {error}") from error
        texts.append(shape.joined(read))
    return texts


def _read(source: Source, size: int) -> Iterator[Any]:
    if isinstance(source, str | Path) and not str(source).startswith(HUB):
        return _read_file(source, size)
    library = library_of(source)
    if library and (tables := _TABLES[library](source)) is not None:
        return (batch for table in tables for batch in table.to_batches(max_chunksize=size))
    _, rows = source_rows(source)
    if library is None and isinstance(source, list | tuple):
        return _typed(rows, size, lambda: source_rows(source)[1])
    return _typed(rows, size, None)


def _read_file(path: str | Path, size: int) -> Iterator[Any]:
    kind = file_kind(path)
    if kind == "parquet":
        return read_parquet_batches(path, size)
    rows = (row for row in read_rows(path) if row is not None)
    return _as_text(rows, size) if kind in PLAIN else _typed(rows, size, lambda: _file_rows(path))


def _file_rows(path: str | Path) -> Iterator[Row]:
    return (row for row in read_rows(path) if row is not None)


def _as_text(rows: Iterator[Row], size: int) -> Iterator[Any]:
    import pyarrow  # slow to import

    while chunk := list(islice(rows, size)):
        schema = pyarrow.schema({name: pyarrow.string() for name in chunk[0]})
        yield pyarrow.RecordBatch.from_pylist(chunk, schema=schema)


# -- rows whose types are seen in their values -------------------------------------------------------------------------


def _typed(rows: Iterator[Row], size: int, again: Callable[[], Iterator[Row]] | None) -> Iterator[Any]:
    """Looks at all rows first where they can be read `again`, else at the first ones."""
    import pyarrow

    seen = again() if again else None
    head = [] if seen else list(islice(rows, size))
    types = _types(seen if seen is not None else head)
    schema = pyarrow.schema(types)
    rows = chain(head, rows)
    while chunk := list(islice(rows, size)):
        if new := next((name for row in chunk for name in row if name not in types), None):
            raise IsotropeError(f"column '{new}' is in later rows only; give a list or a file, which are read twice")
        columns = [_array([row.get(name) for row in chunk], kind, name) for name, kind in types.items()]
        yield pyarrow.RecordBatch.from_arrays(columns, schema=schema)


def _array(values: Sequence[Any], kind: Any, name: str) -> Any:
    import pyarrow

    try:
        return pyarrow.array([_value(value, kind) for value in values], kind)
    except (pyarrow.ArrowException, TypeError, OverflowError) as error:
        raise IsotropeError(f"column '{name}' holds {kind} first and something else later ({reason(error)})") from error


def _types(rows: Iterable[Row]) -> dict[str, Any]:
    """The Arrow type of each column that occurs; text where there are several that do not go together."""
    import pyarrow

    found: dict[str, Any] = {}
    rows = iter(rows)
    while chunk := list(islice(rows, 4096)):
        for name in dict.fromkeys(name for row in chunk for name in row):
            values = [row[name] for row in chunk if name in row and not is_missing(row[name])]
            kinds = [*([found[name]] if name in found else []), *([_infer(values)] if values else [])]
            found[name] = _together(kinds) if kinds else pyarrow.null()
    return {name: pyarrow.string() if pyarrow.types.is_null(kind) else kind for name, kind in found.items()}


def _infer(values: Sequence[Any]) -> Any:
    import pyarrow

    try:
        return pyarrow.infer_type(values)
    except (pyarrow.ArrowException, TypeError, OverflowError):
        return pyarrow.string()


def _together(kinds: Sequence[Any]) -> Any:
    import pyarrow

    schemas = [pyarrow.schema({"x": kind}) for kind in kinds]
    try:
        return pyarrow.unify_schemas(schemas, promote_options="permissive").field("x").type
    except pyarrow.ArrowException:
        return pyarrow.string()


def _value(value: Any, kind: Any) -> Any:
    import pyarrow

    if not pyarrow.types.is_string(kind):
        return None if is_missing(value) else value
    if value is None or isinstance(value, str):
        return value
    return None if is_missing(value) else json.dumps(value, ensure_ascii=False, default=str)


# -- tables of other libraries; None for what is a column, or no table at all -----------------------------------------


def _pandas(source: Any) -> Iterable[Any] | None:
    import pyarrow

    if not hasattr(source, "columns"):
        return None
    columns = {}
    for number, name in enumerate(source.columns):
        values = source.iloc[:, number]
        try:
            columns[str(name)] = pyarrow.Array.from_pandas(values)
        except (pyarrow.ArrowException, TypeError):
            texts = [_value(value, pyarrow.string()) for value in values]
            columns[str(name)] = pyarrow.array(texts, pyarrow.string())
    check_names([str(name) for name in source.columns], source_name(source))
    return [pyarrow.table(columns)]


def _polars(source: Any) -> Iterable[Any] | None:
    table = source.collect() if hasattr(source, "collect") else source
    return [table.to_arrow()] if hasattr(table, "columns") else None


def _arrow(source: Any) -> Iterable[Any] | None:
    import pyarrow

    if not hasattr(source, "schema"):
        return None
    if hasattr(source, "to_batches"):
        return [source]
    return [pyarrow.Table.from_batches([batch]) for batch in ([source] if hasattr(source, "num_rows") else source)]


def _dataset(source: Any) -> Iterable[Any] | None:
    whole = hasattr(source, "with_format") and not isinstance(source, dict)
    tables: Iterable[Any] | None = source.with_format("arrow").iter(batch_size=4096) if whole else None
    return tables


_TABLES: dict[str, Callable[[Any], Iterable[Any] | None]] = {
    "pandas": _pandas,
    "polars": _polars,
    "pyarrow": _arrow,
    "datasets": _dataset,
}


def _in_words(batches: Iterator[Any], name: str) -> Iterator[Any]:
    """Errors of ours that do not name the table yet do so now."""
    try:
        yield from batches
    except IsotropeError as error:
        raise error if name in str(error) else IsotropeError(f"{name}: {error}") from error


def _example(batch: Any) -> Row:
    """One row to judge the columns by: the first value of each that is not missing."""
    found: Row = {}
    for row in batch.slice(0, LOOKED_AT).to_pylist():
        for name, value in row.items():
            if name not in found or is_missing(found[name]):
                found[name] = value
    return found


def _kind(source: Source) -> str:
    is_file = isinstance(source, str | Path) and not str(source).startswith(HUB)
    return file_kind(source) if is_file else "jsonl"  # type: ignore[arg-type]
