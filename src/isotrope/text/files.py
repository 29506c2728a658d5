"""Sentences and tables from files: .txt .csv .tsv .jsonl .parquet, each also .gz, or `-` for standard input.

Everything streams: a file of any size is read in constant memory. Tab-separated files have no quoting (a double quote is
an ordinary character); comma-separated ones have.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow.parquet as parquet

from isotrope.errors import IsotropeError, nearest

KINDS = ("txt", "csv", "tsv", "jsonl", "parquet")
TEXT_COLUMNS = ("text", "sentence")  # taken without asking, in this order
Row = dict[str, Any]


@dataclass
class Counts:
    """What was met on the way; filled while the sentences are read."""

    sentences: int = 0
    blank: int = 0


def read_sentences(path: str | Path, column: str | None = None, counts: Counts | None = None) -> Iterator[str]:
    """One sentence after another. Blank ones are skipped and counted. A file without any is an error."""
    counts = counts if counts is not None else Counts()
    before = counts.sentences
    for text in _texts(path, column):
        stripped = text.strip()
        if stripped:
            counts.sentences += 1
            yield stripped
        else:
            counts.blank += 1
    if counts.sentences == before:
        raise IsotropeError(f"{_shown(path)}: no sentences in it" + (" (blank lines only)" if counts.blank else ""))


def read_table(path: str | Path, columns: Iterable[str] = ()) -> Iterator[Row]:
    """The rows of a table as dictionaries. `columns` must be there; the error names those that are."""
    kind = file_kind(path)
    wanted = tuple(columns)
    with open_bytes(path) as stream:
        yield from _READERS[kind](stream, _shown(path), wanted)


def file_kind(path: str | Path) -> str:
    """`txt`, `csv`, `tsv`, `jsonl` or `parquet`, from the name. Standard input is `txt`."""
    if str(path) == "-":
        return "txt"
    name = Path(path).name.lower().removesuffix(".gz")
    kind = name.rpartition(".")[2]
    if kind not in KINDS:
        raise IsotropeError(f"{path}: unknown kind of file; one of .{', .'.join(KINDS)} (each also .gz) is needed")
    return kind


@contextmanager
def open_bytes(path: str | Path) -> Iterator[BinaryIO]:
    """The file's bytes, unzipped if its name ends in .gz; errors in words."""
    if str(path) == "-":
        yield sys.stdin.buffer
        return
    file = Path(path)
    if not file.exists():
        raise IsotropeError(f"{path}: no such file")
    if file.is_dir():
        raise IsotropeError(f"{path}: a folder, where a file is needed")
    try:
        if file.stat().st_size == 0:
            raise IsotropeError(f"{path}: the file is empty")
        with gzip.open(file) if file.suffix.lower() == ".gz" else file.open("rb") as stream:
            yield stream  # type: ignore[misc]
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise IsotropeError(f"{path}: not a complete gzip file ({error})") from error
    except OSError as error:
        raise IsotropeError(f"{path}: can't be read ({error.strerror or error})") from error


def _texts(path: str | Path, column: str | None) -> Iterator[str]:
    kind = file_kind(path)
    if kind != "txt":
        for number, row in enumerate(read_table(path, (column,) if column else ()), 1):
            column = column or _text_column(row, _shown(path))
            value = row[column]
            if value is not None and not isinstance(value, str):
                raise IsotropeError(f"{_shown(path)}: row {number}: column '{column}' holds {value!r}, not text")
            yield value or ""
        return
    if column:
        raise IsotropeError(f"{_shown(path)}: plain text has no columns; leave out --column")
    with open_bytes(path) as stream:
        yield from _lines(stream, _shown(path))


def _text_column(row: Row, where: str) -> str:
    texts = [name for name, value in row.items() if isinstance(value, str)]
    for name in TEXT_COLUMNS:
        if name in texts:
            return name
    if len(row) == 1 and texts:
        return texts[0]
    if not texts:
        raise IsotropeError(f"{where}: no column with text; it has: {', '.join(row)}")
    raise IsotropeError(f"{where}: which column? Name one with --column: {', '.join(texts)}")


def _lines(stream: BinaryIO, where: str) -> Iterator[str]:
    """Decoded lines without their ends. Binary files and bytes that are not UTF-8 are named with their line."""
    for number, raw in enumerate(stream, 1):
        if b"\0" in raw:
            raise IsotropeError(f"{where}: line {number}: a binary file, not text")
        try:
            yield raw.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
        except UnicodeDecodeError as error:
            bad = raw[error.start]
            raise IsotropeError(
                f"{where}: line {number}: byte 0x{bad:02x} at position {error.start + 1} is not UTF-8; convert the file"
            ) from error


def _check_columns(there: Iterable[str], wanted: Iterable[str], where: str) -> None:
    names = list(there)
    for column in wanted:
        if column not in names:
            raise IsotropeError(f"{where}: no column '{column}'{nearest(column, names)}; it has: {', '.join(names)}")


def _read_tsv(stream: BinaryIO, where: str, wanted: tuple[str, ...]) -> Iterator[Row]:
    lines = _lines(stream, where)
    header = next(lines, "").split("\t")
    _check_columns(header, wanted, where)
    for number, line in enumerate(lines, 2):
        if line:
            yield _row(header, line.split("\t"), where, number)


def _read_csv(stream: BinaryIO, where: str, wanted: tuple[str, ...]) -> Iterator[Row]:
    reader = csv.reader((line + "\n" for line in _lines(stream, where)), strict=True)
    try:
        header = next(reader, [])
        _check_columns(header, wanted, where)
        for fields in reader:
            if fields:
                yield _row(header, fields, where, reader.line_num)
    except csv.Error as error:
        raise IsotropeError(f"{where}: line {reader.line_num}: {error}") from error


def _row(header: list[str], fields: list[str], where: str, number: int) -> Row:
    if len(fields) != len(header):
        raise IsotropeError(f"{where}: line {number}: {len(fields)} fields, but the header has {len(header)}")
    return dict(zip(header, fields, strict=True))


def _read_jsonl(stream: BinaryIO, where: str, wanted: tuple[str, ...]) -> Iterator[Row]:
    for number, line in enumerate(_lines(stream, where), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            raise IsotropeError(f"{where}: line {number}: not JSON ({error.msg})") from error
        if not isinstance(row, dict):
            raise IsotropeError(f"{where}: line {number}: not an object such as {{\"text\": ...}}")
        _check_columns(row, wanted, f"{where}: line {number}")
        yield row


def _read_parquet(stream: BinaryIO, where: str, wanted: tuple[str, ...]) -> Iterator[Row]:
    seekable = stream if isinstance(stream, io.BufferedReader) else io.BytesIO(stream.read())
    try:
        table = parquet.ParquetFile(seekable)
    except Exception as error:
        raise IsotropeError(f"{where}: not a Parquet file ({' '.join(str(error).split())[:100]})") from error
    _check_columns(table.schema_arrow.names, wanted, where)
    for batch in table.iter_batches(batch_size=4096):
        yield from batch.to_pylist()


def _read_txt(stream: BinaryIO, where: str, wanted: tuple[str, ...]) -> Iterator[Row]:
    if wanted and wanted != ("text",):
        raise IsotropeError(f"{where}: plain text has no columns; a table with {', '.join(wanted)} is needed")
    for line in _lines(stream, where):
        yield {"text": line}


def _shown(path: str | Path) -> str:
    return "standard input" if str(path) == "-" else str(path)


_READERS = {"txt": _read_txt, "csv": _read_csv, "tsv": _read_tsv, "jsonl": _read_jsonl, "parquet": _read_parquet}
