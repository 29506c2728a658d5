"""Sentences and tables from files: .txt .csv .tsv .jsonl .parquet, each also .gz, or `-` for standard input.

Everything streams: a file of any size is read in constant memory (except .parquet.gz, in which one can't seek).
Tab-separated files have no quoting (a double quote is an ordinary character); comma-separated ones have.
"""

from __future__ import annotations

import codecs
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
from typing import Any, BinaryIO, cast

from isotrope.io.errors import IsotropeError, nearest

KINDS = ("txt", "csv", "tsv", "jsonl", "parquet")
TEXT_COLUMNS = ("text", "sentence")  # taken without asking, in this order
Row = dict[str, Any]


@dataclass
class Counts:
    """What was met on the way; filled while the sentences are read."""

    sentences: int = 0
    blank: int = 0


def read_sentences(path: Any, column: str | None = None, counts: Counts | None = None) -> Iterator[str]:
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
    return (row for row in _rows(path, tuple(columns)) if row is not None)


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
    try:
        if not file.exists():
            raise IsotropeError(f"{path}: no such file")
        if file.is_dir():
            raise IsotropeError(f"{path}: a folder, where a file is needed")
        if file.is_file() and file.stat().st_size == 0:  # a pipe has no size
            raise IsotropeError(f"{path}: the file is empty")
        with gzip.open(file) if file.suffix.lower() == ".gz" else file.open("rb") as stream:
            yield cast(BinaryIO, stream)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise IsotropeError(f"{path}: not a complete gzip file ({error})") from error
    except OSError as error:
        raise IsotropeError(f"{path}: can't be read ({error.strerror or error})") from error


def _texts(path: Any, column: str | None) -> Iterator[str]:
    if not isinstance(path, str | Path):
        yield from path
        return
    kind, where = file_kind(path), _shown(path)
    if kind == "txt" and column:
        raise IsotropeError(f"{where}: plain text has no columns; leave out --column")
    for number, row in enumerate(_rows(path, (column,) if column else ()), 1):
        if row is None:
            yield ""
            continue
        column = column or text_column(row, kind, where)
        _check_columns(row, (column,), f"{where}: row {number}")
        value = row[column]
        if value is not None and not isinstance(value, str):
            raise IsotropeError(f"{where}: row {number}: column '{column}' holds {value!r:.40}, not text")
        yield _encodable(value or "", f"{where}: row {number}")


def _encodable(text: str, where: str) -> str:
    """JSON can spell half a surrogate pair, which is no character and which no tokenizer takes."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise IsotropeError(f"{where}: {text[error.start]!r} is half a character; write it as a pair") from error
    return text


def text_column(row: Row, kind: str, where: str) -> str:
    """Which column holds the sentences, judged by the first row."""
    for name in TEXT_COLUMNS:
        if name in row:
            return name
    texts = [name for name, value in row.items() if isinstance(value, str) and not _is_number(value)]
    if not texts:
        raise IsotropeError(f"{where}: no column with text; it has: {', '.join(row)}")
    if len(texts) == 1 and kind in ("jsonl", "parquet"):  # a .csv may lack its header: the name could be a sentence
        return texts[0]
    raise IsotropeError(f"{where}: which column? Name one with --column: {', '.join(texts)}")


def _is_number(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True


def _rows(path: str | Path, wanted: tuple[str, ...]) -> Iterator[Row | None]:
    """The rows of any kind of file; None for a blank line."""
    with open_bytes(path) as stream:
        yield from _READERS[file_kind(path)](stream, _shown(path), wanted)


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
    reader = csv.reader(_lines(stream, where), strict=True)
    try:
        header = next(reader, [])
        _check_header(header, wanted, where)
        for fields in reader:
            yield _row(header, fields, where, reader.line_num) if fields else None
    except csv.Error as error:
        raise IsotropeError(f"{where}: line {reader.line_num}: {error}") from error


def _row(header: list[str], fields: list[str], where: str, number: int) -> Row:
    if len(fields) != len(header):
        raise IsotropeError(f"{where}: line {number}: {len(fields)} fields, but the header has {len(header)}")
    return dict(zip(header, fields, strict=True))


def _read_jsonl(stream: BinaryIO, where: str, wanted: tuple[str, ...]) -> Iterator[Row | None]:
    for number, line in enumerate(_lines(stream, where), 1):
        if not line.strip():
            yield None
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise IsotropeError(f"{where}: line {number}: not JSON ({error})") from error
        if not isinstance(row, dict):
            raise IsotropeError(f'{where}: line {number}: not an object such as {{"text": ...}}')
        _check_columns(row, wanted, f"{where}: line {number}")
        yield row


def _read_parquet(stream: BinaryIO, where: str, wanted: tuple[str, ...]) -> Iterator[Row | None]:
    import pyarrow  # slow to import, and few files need it
    from pyarrow import parquet

    seekable = stream if isinstance(stream, io.BufferedReader) else io.BytesIO(stream.read())
    try:
        table = parquet.ParquetFile(seekable)
        _check_columns(table.schema_arrow.names, wanted, where)
        for batch in table.iter_batches(batch_size=4096):
            yield from batch.to_pylist()
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        raise IsotropeError(f"{where}: a damaged Parquet file ({' '.join(str(error).split())[:100]})") from error


_READERS = {"txt": _read_txt, "csv": _read_csv, "tsv": _read_tsv, "jsonl": _read_jsonl, "parquet": _read_parquet}


def _lines(stream: BinaryIO, where: str) -> Iterator[str]:
    """Decoded lines with their ends. Binary files and bytes that are not UTF-8 are named with their line."""
    for number, raw in enumerate(stream, 1):
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


def _check_header(names: list[str], wanted: Iterable[str], where: str) -> None:
    if not any(names):
        raise IsotropeError(f"{where}: line 1 is blank; it must name the columns")
    for name in filter(None, names):  # spreadsheets leave several columns without a name
        if names.count(name) > 1:
            raise IsotropeError(f"{where}: line 1: two columns are named '{name}'")
    _check_columns(names, wanted, where)


def _check_columns(there: Iterable[str], wanted: Iterable[str], where: str) -> None:
    names = list(there)
    for column in wanted:
        if column not in names:
            raise IsotropeError(f"{where}: no column '{column}'{nearest(column, names)}; it has: {', '.join(names)}")


def _shown(path: str | Path) -> str:
    return "standard input" if str(path) == "-" else str(path)
