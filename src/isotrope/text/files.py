"""Tables from files: .txt .csv .tsv .jsonl .parquet, each also .gz, or `-` for standard input.

Everything streams: a file of any size is read in constant memory (except .parquet.gz, in which one can't seek).
Tab-separated files have no quoting (a double quote is an ordinary character); comma-separated ones have. What a .csv is
separated by, a comma, a semicolon or a tab, is seen in its header.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import json
import os
import re
import shutil
import sys
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain, count
from pathlib import Path
from typing import Any, BinaryIO, cast

from isotrope.io.errors import IsotropeError, nearest, reason
from isotrope.text.frames import BATCH, arrow_rows, check_names
from isotrope.text.frames import Row as Row

FOLDER = "a folder, but a file is needed; give the files in it, such as"
KINDS = ("txt", "csv", "tsv", "jsonl", "parquet")
SEPARATORS = (",", ";", "\t")  # of a .csv; the first where two divide a header alike
LONGEST_LINE = 2**26  # bytes; a packed file of a few kilobytes can hold a line of gigabytes


def read_table(path: str | Path, columns: Iterable[str] = ()) -> Iterator[Row]:
    """The rows of a table as dictionaries. `columns` must be there; the error names those that are."""
    return (row for row in read_rows(path, tuple(columns)) if row is not None)


def read_rows(path: str | Path, wanted: tuple[str, ...] = ()) -> Iterator[Row | None]:
    """The rows of any kind of file; None for a blank line."""
    with open_bytes(path) as stream:
        yield from _READERS[file_kind(path)](stream, shown_path(path), wanted)


def stream_rows(stream: BinaryIO, name: str) -> Iterator[Row | None]:
    """The same of bytes that are in memory, or come from elsewhere; `name` says what kind they are of."""
    yield from _READERS[named_kind(name)](stream, name, ())


def file_kind(path: str | Path) -> str:
    """`txt`, `csv`, `tsv`, `jsonl` or `parquet`, from the name. Standard input is `txt`; a folder is refused."""
    if str(path) == "-":
        return "txt"
    if os.path.isdir(path):  # which takes what can't be a path for none
        raise IsotropeError(f"{path}: {FOLDER} {Path(path, '*.txt')}")
    return named_kind(path)


def named_kind(path: str | Path) -> str:
    """The same without a look at the disk: of what others sent, a name says nothing about this machine."""
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
    try:
        if not file.exists():
            raise IsotropeError(f"{path}: no such file")
        if file.is_dir():
            raise IsotropeError(f"{path}: {FOLDER} {file / '*.txt'}")
        if file.is_file() and file.stat().st_size == 0:  # a pipe has no size
            raise IsotropeError(f"{path}: the file is empty")
        with gzip.open(file) if file.suffix.lower() == ".gz" else file.open("rb") as stream:
            yield cast(BinaryIO, stream)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise IsotropeError(f"{path}: not a complete gzip file ({error})") from error
    except OSError as error:
        raise IsotropeError(f"{path}: can't be read ({reason(error)})") from error


def _read_txt(stream: BinaryIO, where: str, wanted: tuple[str, ...]) -> Iterator[Row | None]:
    if set(wanted) - {"text"}:
        raise IsotropeError(f"{where}: plain text has no columns; a table with {', '.join(wanted)} is needed")
    for line in _lines(stream, where):
        yield {"text": line.rstrip("\r\n")}


def _read_tsv(stream: BinaryIO, where: str, wanted: tuple[str, ...]) -> Iterator[Row | None]:
    lines = (line.rstrip("\r\n") for line in _lines(stream, where))
    header = next(lines, "").split("\t")
    _check_header(header, wanted, where)
    for number, line in enumerate(lines, 2):
        yield _row(header, line.split("\t"), where, number) if line else None


def _read_csv(stream: BinaryIO, where: str, wanted: tuple[str, ...]) -> Iterator[Row | None]:
    lines = _lines(stream, where)
    first = next(lines, "")
    reader = csv.reader(chain([first], lines), delimiter=_separator(first), strict=True)
    try:
        header = next(reader, [])
        _check_header(header, wanted, where)
        for fields in reader:
            yield _row(header, fields, where, reader.line_num) if fields else None
    except csv.Error as error:
        raise IsotropeError(f"{where}: line {reader.line_num}: {error}") from error


def _separator(header: str) -> str:
    """What divides the header into the most columns. Spreadsheets of half of Europe write semicolons."""
    return max(SEPARATORS, key=re.sub('"[^"]*"', "", header).count)


def _row(header: list[str], fields: list[str], where: str, number: int) -> Row:
    if len(fields) != len(header):
        raise IsotropeError(f"{where}: line {number}: {len(fields)} fields, but the header has {len(header)}")
    return dict(zip(header, fields, strict=True))


def _read_jsonl(stream: BinaryIO, where: str, wanted: tuple[str, ...]) -> Iterator[Row | None]:
    decode = json.JSONDecoder(object_pairs_hook=_without_repeats).decode
    for number, line in enumerate(_lines(stream, where), 1):
        if not line.strip():
            yield None
            continue
        try:
            row = decode(line)
        except (ValueError, RecursionError) as error:
            raise IsotropeError(f"{where}: line {number}: not JSON ({reason(error)})") from error
        if not isinstance(row, dict):
            raise IsotropeError(f'{where}: line {number}: not an object such as {{"text": ...}}')
        check_columns(row, wanted, f"{where}: line {number}")
        yield row


def _without_repeats(pairs: list[tuple[str, Any]]) -> Row:
    row = dict(pairs)
    if len(row) < len(pairs):
        raise ValueError("a name occurs twice in an object")
    return row


def read_parquet_batches(path: str | Path, size: int) -> Iterator[Any]:
    """The rows of a Parquet file as Arrow has them, at most `size` at a time."""
    with open_bytes(path) as stream, _parquet_file(stream, shown_path(path)) as table:
        yield from table.iter_batches(batch_size=size)


def _read_parquet(stream: BinaryIO, where: str, wanted: tuple[str, ...]) -> Iterator[Row | None]:
    with _parquet_file(stream, where) as table:
        names = list(table.schema_arrow.names)
        check_columns(names, wanted, where)
        yield from arrow_rows(table.iter_batches(batch_size=BATCH), names, where)


@contextmanager
def _parquet_file(stream: BinaryIO, where: str) -> Iterator[Any]:
    import pyarrow  # slow to import, and few files need it
    from pyarrow import parquet

    try:
        with _seekable(stream) as file:
            yield parquet.ParquetFile(file)
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        raise IsotropeError(f"{where}: a damaged Parquet file ({reason(error)[:100]})") from error


@contextmanager
def _seekable(stream: BinaryIO) -> Iterator[BinaryIO]:
    """The stream itself, or what it unpacks to on disk."""
    if isinstance(stream, io.BufferedReader):
        yield stream
        return
    with tempfile.TemporaryFile() as file:
        shutil.copyfileobj(stream, file)
        file.seek(0)
        yield cast(BinaryIO, file)


_READERS = {"txt": _read_txt, "csv": _read_csv, "tsv": _read_tsv, "jsonl": _read_jsonl, "parquet": _read_parquet}


def _lines(stream: BinaryIO, where: str) -> Iterator[str]:
    """Decoded lines with their ends. Binary files and bytes that are not UTF-8 are named with their line."""
    for number, raw in enumerate(_raw_lines(stream, where), 1):
        if number == 1 and raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise IsotropeError(f"{where}: UTF-16 text; save it as UTF-8")
        try:
            line = raw.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            if b"\0" not in raw + stream.read(4096):
                bad = f"byte 0x{raw[error.start]:02x} at position {error.start + 1}"
                raise IsotropeError(f"{where}: line {number}: {bad} is not UTF-8; convert the file") from error
            line = "\0"
        if "\0" in line:
            raise IsotropeError(f"{where}: line {number}: a binary file, not text")
        yield line


def _raw_lines(stream: BinaryIO, where: str) -> Iterator[bytes]:
    """Lines end with a line feed; in a file that has none, with a carriage return, as on old Macs."""
    for number in count(1):
        line = stream.readline(LONGEST_LINE + 1)
        if not line:
            return
        if len(line) > LONGEST_LINE:
            said = f"longer than {LONGEST_LINE >> 20} MiB; is it text with one sentence or row on each line?"
            raise IsotropeError(f"{where}: line {number}: {said}")
        if number == 1 and not line.endswith(b"\n"):
            yield from line.splitlines(keepends=True)
        else:
            yield line


def _check_header(names: list[str], wanted: Iterable[str], where: str) -> None:
    if not any(names):
        raise IsotropeError(f"{where}: line 1 is blank; it must name the columns")
    check_names(names, f"{where}: line 1")
    check_columns(names, wanted, where)


def check_columns(there: Iterable[str], wanted: Iterable[str], where: str) -> None:
    """All that are wanted are there; the error names those that are."""
    names = list(there)
    for column in wanted:
        if column not in names:
            raise IsotropeError(f"{where}: no column '{column}'{nearest(column, names)}; it has: {', '.join(names)}")


def shown_path(path: str | Path) -> str:
    """A file as messages name it."""
    return "standard input" if str(path) == "-" else str(path)
