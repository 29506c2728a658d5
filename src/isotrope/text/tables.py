"""Tables of text to files: .tsv, .jsonl and .parquet, the first two also .gz; whole or not there at all."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from isotrope.io.atomic import check_output, whole_or_nothing
from isotrope.io.errors import IsotropeError
from isotrope.text.files import file_kind, read_table

KINDS = ("tsv", "jsonl", "parquet")
Rows = list[Sequence[str]]
Write = Callable[[Sequence[Sequence[str]]], None]  # appends rows: a text for each column
BREAKS = str.maketrans("\t\r\n", "   ")  # tab-separated files have no quoting


@dataclass(frozen=True, kw_only=True)
class TextTable:
    """Rows of text in a file, or in memory where there is none. Iterating gives them as dictionaries."""

    columns: tuple[str, ...]
    count: int
    output: Path | None = None
    in_memory: Rows = field(default_factory=list, repr=False)

    def __len__(self) -> int:
        """Rows."""
        return self.count

    def __iter__(self) -> Iterator[dict[str, str]]:
        if self.output is not None:
            yield from read_table(self.output)
        for row in self.in_memory:
            yield dict(zip(self.columns, row, strict=True))

    def to_arrow(self) -> Any:
        """A pyarrow table with all rows."""
        import pyarrow  # slow to import

        schema = pyarrow.schema({column: pyarrow.string() for column in self.columns})
        return pyarrow.Table.from_pylist(list(self), schema=schema)

    def to_pandas(self) -> Any:
        """A pandas frame with all rows."""
        return self.to_arrow().to_pandas()


def table_writer(path: Path | None, columns: Sequence[str], kept: Rows) -> AbstractContextManager[Write]:
    """What takes the rows: the file or, without one, the list `kept`."""
    return nullcontext(kept.extend) if path is None else write_table(path, columns)


def check_table(path: Path, *, force: bool = False) -> None:
    """Refuses a path that could not be written, before any work is put into what would go there."""
    zipped = path.suffix.lower() == ".gz"
    kind = path.with_suffix("").suffix if zipped else path.suffix
    if kind.lower().lstrip(".") not in KINDS[: 2 if zipped else 3]:
        raise IsotropeError(f"{path}: the output's name must end in .tsv, .jsonl (each also .gz) or .parquet")
    check_output(path, (path.suffix.lower(),), force=force)


@contextmanager
def write_table(path: Path, columns: Sequence[str]) -> Iterator[Write]:
    """Takes rows, some at a time, into a table with these columns. Equal rows make equal bytes."""
    opened = {"tsv": _tsv, "jsonl": _jsonl, "parquet": _parquet}[file_kind(path)]
    with whole_or_nothing(path) as partial, opened(partial, columns) as write:
        yield write


@contextmanager
def _tsv(path: Path, columns: Sequence[str]) -> Iterator[Write]:
    with _lines(path, lambda row: "\t".join(text.translate(BREAKS) for text in row)) as write:
        write([columns])
        yield write


@contextmanager
def _jsonl(path: Path, columns: Sequence[str]) -> Iterator[Write]:
    with _lines(path, lambda row: json.dumps(dict(zip(columns, row, strict=True)), ensure_ascii=False)) as write:
        yield write


@contextmanager
def _lines(path: Path, line: Callable[[Sequence[str]], str]) -> Iterator[Write]:
    zipped = path.suffix.lower() == ".gz"
    with (
        path.open("wb") as file,
        gzip.GzipFile("", "wb", fileobj=file, mtime=0) if zipped else nullcontext(file) as stream,  # no name, no time
    ):

        def write(rows: Sequence[Sequence[str]]) -> None:
            stream.write("".join(f"{line(row)}\n" for row in rows).encode())

        yield write


@contextmanager
def _parquet(path: Path, columns: Sequence[str]) -> Iterator[Write]:
    import pyarrow  # slow to import
    from pyarrow import parquet

    schema: Any = pyarrow.schema({column: pyarrow.string() for column in columns})
    with parquet.ParquetWriter(path, schema) as file:

        def write(rows: Sequence[Sequence[str]]) -> None:
            texts = [pyarrow.array(column, pyarrow.string()) for column in zip(*rows, strict=True)]
            if rows:
                file.write_batch(pyarrow.record_batch(texts, schema=schema))

        yield write
