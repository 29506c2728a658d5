"""Rows of tables that other libraries hold: pandas, polars, Arrow and Hugging Face data sets.

None of them is imported here. An object is known by the library that defines its class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from isotrope.io.errors import IsotropeError

Row = dict[str, Any]
BATCH = 4096  # rows that are turned into Python's objects together


def rows_of_table(source: Any) -> Iterator[Row] | None:
    """The rows of a table or column; None for an object that is neither."""
    reader = _reader(source)
    return None if reader is None else reader(source)


def is_table(source: Any) -> bool:
    """Whether an object is a table, or a column of one, of a library known here."""
    return _reader(source) is not None


def library_of(source: Any) -> str | None:
    """`pandas`, `polars`, `pyarrow` or `datasets`; None for an object of no library known here."""
    libraries = (base.__module__.partition(".")[0] for base in type(source).__mro__)
    return next((library for library in libraries if library in _READERS), None)


def arrow_rows(batches: Iterable[Any], names: list[str], where: str) -> Iterator[Row]:
    """The rows of Arrow batches. Values that Python can't hold, such as far dates, hinder nobody who does not ask for
    them.
    """
    check_names(names, where)
    for batch in batches:
        columns = [_values(batch.column(number)) for number in range(len(names))]
        for values in zip(*columns, strict=True):
            yield dict(zip(names, values, strict=True))


def dataset_rows(dataset: Any, where: str) -> Iterator[Row]:
    """The rows of a Hugging Face data set, streamed or not. Labels go by name: each set has an order of its own."""
    label = (dataset.features or {}).get("label")
    names: list[str] | None = getattr(label, "names", None)
    for table in dataset.with_format("arrow").iter(batch_size=BATCH):
        for row in arrow_rows(table.to_batches(), list(table.column_names), where):
            if names and row["label"] is not None and row["label"] >= 0:
                row["label"] = names[row["label"]]
            yield row


def check_names(names: list[str], where: str) -> None:
    """No two columns have the same name. Spreadsheets leave several without one."""
    for name in filter(None, names):
        if names.count(name) > 1:
            raise IsotropeError(f"{where}: two columns are named '{name}'")


def _reader(source: Any) -> Callable[[Any], Iterator[Row]] | None:
    library = library_of(source)
    return _READERS[library] if library else None


def _pandas(source: Any) -> Iterator[Row]:
    if not hasattr(source, "columns"):
        return _cells(source, source.name)
    names = [str(name) for name in source.columns]
    check_names(names, _shown(source))
    columns = (source.iloc[:, number] for number in range(len(names)))
    return (dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True))


def _polars(source: Any) -> Iterator[Row]:
    table = source.collect() if hasattr(source, "collect") else source  # a LazyFrame
    return _arrow(table.to_arrow()) if hasattr(table, "columns") else _cells(table.to_list(), table.name)


def _arrow(source: Any) -> Iterator[Row]:
    if not hasattr(source, "schema"):
        return _cells(_values(source), "")
    if hasattr(source, "to_batches"):
        return arrow_rows(source.to_batches(), list(source.schema.names), _shown(source))
    batches = [source] if hasattr(source, "num_rows") else source  # a RecordBatch, or a reader of them
    return arrow_rows(batches, list(source.schema.names), _shown(source))


def _dataset(source: Any) -> Iterator[Row]:
    if isinstance(source, dict):
        splits = ", ".join(source)
        raise IsotropeError(f"{_shown(source)}: it has the splits {splits}; give one of them, such as data['train']")
    if not hasattr(source, "with_format"):  # one column of a data set
        return _cells(source, "")
    return dataset_rows(source, _shown(source))


_READERS = {"pandas": _pandas, "polars": _polars, "pyarrow": _arrow, "datasets": _dataset}


def _cells(values: Iterable[Any], name: Any) -> Iterator[Row]:
    column = str(name) if name else "text"
    return ({column: value} for value in values)


def _shown(source: Any) -> str:
    return f"the given {type(source).__name__}"


class _Unreadable:
    """Stands for a value that Python has no object for."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def __repr__(self) -> str:
        return f"a {self.kind} out of Python's range"


def _values(column: Any) -> list[Any]:
    try:
        values: list[Any] = column.to_pylist()
    except UnicodeDecodeError:
        raise
    except (ValueError, OverflowError):
        values = [_Unreadable(str(column.type))] * len(column)
    return values
