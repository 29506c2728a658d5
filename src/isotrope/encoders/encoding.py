"""Text from anywhere to vectors, in memory or in a file of any size. Every row keeps its place."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple, overload

import numpy as np

from isotrope.encoders.encoder import Encoder
from isotrope.encoders.foreign import ForeignEncoder
from isotrope.encoders.loading import Model, load_any
from isotrope.encoders.pooling import Pooling
from isotrope.encoders.streaming import CHUNK_BATCHES
from isotrope.io.atomic import check_output, whole_or_nothing
from isotrope.io.errors import IsotropeError
from isotrope.io.memory import enough_memory
from isotrope.io.progress import Display, waiting
from isotrope.io.vector_files import WRITERS, Bools, Floats
from isotrope.text.record_batches import Batches, batch_texts, record_batches
from isotrope.text.shaping import Shape
from isotrope.text.sources import Source

log = logging.getLogger(__name__)

MOST_ROWS = 2**16  # that are in memory together
VECTORS = "embedding"  # the column that vectors go into


@dataclass(frozen=True)
class EncodedFile:
    """A file of vectors, and what went into it."""

    path: Path | PurePosixPath  # the latter of an address that is no local file
    rows: int
    dim: int
    blank: int  # rows without text: zeros in .npy, null in .parquet
    truncated: int  # texts that were cut off at `max_seq_length` tokens
    max_seq_length: int
    seconds: float
    shards: int = 0  # files in the folder `path`; 0: it is one file


class EncodedRows(NamedTuple):
    """Some rows of a table, their texts, their vectors (rows, dim), and which have no text: those have zeros."""

    batch: Any  # an Arrow record batch
    texts: list[str | None]
    vectors: Floats
    blank: Bools


@overload
def encode(
    source: Source,
    model: Model = ...,
    *,
    output: None = ...,
    column: str | None = ...,
    columns: str | Iterable[str] | None = ...,
    join: str | None = ...,
    strip_html: bool = ...,
    vector_column: str = ...,
    pooling: str | Pooling | None = ...,
    batch_size: int = ...,
    normalize: bool = ...,
    device: str | None = ...,
    precision: str | None = ...,
    force: bool = ...,
    show_progress: bool = ...,
) -> Floats: ...


@overload
def encode(
    source: Source,
    model: Model = ...,
    *,
    output: str | Path,
    column: str | None = ...,
    columns: str | Iterable[str] | None = ...,
    join: str | None = ...,
    strip_html: bool = ...,
    vector_column: str = ...,
    pooling: str | Pooling | None = ...,
    batch_size: int = ...,
    normalize: bool = ...,
    device: str | None = ...,
    precision: str | None = ...,
    shard_size: int | None = ...,
    processes: int = ...,
    ray: bool = ...,
    force: bool = ...,
    show_progress: bool = ...,
) -> EncodedFile: ...


def encode(
    source: Source,
    model: Model = "bundled",
    *,
    output: str | Path | None = None,
    column: str | None = None,
    columns: str | Iterable[str] | None = None,
    join: str | None = None,
    strip_html: bool = False,
    vector_column: str = VECTORS,
    pooling: str | Pooling | None = None,
    batch_size: int = 32,
    normalize: bool = False,
    device: str | None = None,
    precision: str | None = None,
    shard_size: int | None = None,
    processes: int = 1,
    ray: bool = False,
    force: bool = False,
    show_progress: bool = False,
) -> Floats | EncodedFile:
    """Turns text into vectors.

    Args:
        source: sentences, a file, `-` for standard input, `hub:org/name[:config][:split]`, or a table or column
            of pandas, polars, Arrow or `datasets`. Every row keeps its place; one without text has zeros.
        model: `"bundled"`, `"minilm"`, a folder, a name on the Hugging Face Hub, an `Encoder` or a
            `SentenceTransformer`.
        output: a file to write, in constant memory: .npy (vectors only), or .parquet, the table with all its columns
            and one of vectors, null where there is no text. Without it the vectors are returned.
        column: the column of a table that holds the sentences; `text` or `sentence` needs no naming.
        columns: several columns that make one text: `"Subject,Body"` or a list.
        join: what stands between them: `". "`.
        strip_html: takes HTML out of the text that is encoded; the table keeps it.
        vector_column: what the column of vectors is called.
        pooling: `"mean"`, `"cls"`, `"last2"`, `"mean@2"` ...; without it the model's own.
        batch_size: sentences at a time: as many tokens as so many of moderate length have.
        normalize: scales every vector to length 1.
        device: `"cpu"`, `"cuda"` ...; without it the fastest there is.
        precision: what it computes in, `"float32"`, `"bfloat16"` or `"float16"`; the vectors are float32.
        shard_size: `output` is a folder then (or an address that fsspec knows) of files with so many rows each, .npy if
            its name ends so, else .parquet. Called again, it goes on where it was stopped.
        processes: with `shard_size`: processes that encode, each with a model of its own; on the devices that `device`
            names, `"cuda:0,cuda:1"`, in turn.
        ray: with `shard_size`: through Ray Data, on the cluster that Ray is told of or on this machine; `processes` of
            them, without it one for each processor.
        force: replaces a file that is there already.
        show_progress: shows a bar on a terminal.

    Returns:
        A float32 array (rows, dim); with `output` an `EncodedFile`.

    Example:
        >>> from isotrope.encoders import encode
        >>> encode(["A dog runs.", "A cat sleeps."]).shape
        (2, 256)
    """
    shape = Shape.of(columns, join, strip_html, column=column)
    if shard_size is not None and output is not None:
        from isotrope.encoders.sharding import Work  # which stands on this module
        from isotrope.encoders.workers import encode_apart

        if not isinstance(model, str | Path):
            raise IsotropeError("shards are encoded by a model's name or folder, which other processes can load too")
        names = (str(model), str(output), shard_size, shape, vector_column, str(pooling) if pooling else None)
        work = Work(*names, normalize=normalize, precision=precision, batch_size=batch_size)
        given: dict[str, Any] = {"column": column, "force": force, "show_progress": show_progress}
        return encode_apart(work, source, processes=processes, ray=ray, device=device, **given)
    if shard_size is not None or processes != 1 or ray:
        raise IsotropeError("shard_size=, processes= and ray= go together with output=, a folder of files")
    if output is not None:
        check_output(Path(output), WRITERS, force=force)
    size = min(check_batch_size(batch_size) * CHUNK_BATCHES, MOST_ROWS)
    total = _count(source, size, column, shape, show_progress)
    with waiting(f"Loading {model}" if isinstance(model, str | Path) else "Loading", shown=show_progress):
        encoder = load_any(model, pooling=pooling, device=device, precision=precision)
    table = record_batches(source, size, column, shape)
    if output is not None and vector_column in table.schema.names:
        raise IsotropeError(
            f"{table.name}: there is already a column '{vector_column}'; give the vectors another name with "
            "vector_column=",
            argument="vector_column=",
        )
    chunks = encode_table(table, encoder, shape, batch_size=batch_size, normalize=normalize)
    with enough_memory("encode fewer sentences at a time"), Display("Encoding", total, shown=show_progress) as advance:
        if output is None:
            return _gathered(chunks, advance)
        return _written(chunks, advance, encoder, Path(output), table, vector_column)


def encode_table(
    table: Batches, encoder: Encoder | ForeignEncoder, shape: Shape, *, batch_size: int = 32, normalize: bool = False
) -> Iterator[EncodedRows]:
    """The rows of a table beside their vectors, a lot at a time. A table without any text is an error."""
    rows = texts_seen = 0
    for batch in table.batches:
        texts = batch_texts(table, batch, shape, rows)
        there = [text for text in texts if text is not None]
        rows, texts_seen = rows + len(texts), texts_seen + len(there)
        yield encode_rows(batch, texts, encoder, batch_size=batch_size, normalize=normalize)
    if not texts_seen:
        raise IsotropeError(f"{table.name}: no sentences in it (blank lines only)")


def encode_rows(
    batch: Any,
    texts: list[str | None],
    encoder: Encoder | ForeignEncoder,
    *,
    batch_size: int = 32,
    normalize: bool = False,
) -> EncodedRows:
    """A record batch beside the vectors of its texts."""
    there = [text for text in texts if text is not None]
    vectors, blank = np.zeros((len(texts), encoder.dim), np.float32), np.array([text is None for text in texts])
    if there:
        vectors[~blank] = _finite(encoder, there, batch_size, normalize)
    return EncodedRows(batch, texts, vectors, blank)


def check_batch_size(size: int) -> int:
    """Refuses a size below 1."""
    if size < 1:
        raise IsotropeError(f"batch_size must be at least 1, not {size}")
    return size


def _finite(encoder: Encoder | ForeignEncoder, texts: list[str], batch_size: int, normalize: bool) -> Floats:
    found = encoder.encode_stream(texts, batch_size=batch_size, normalize_embeddings=normalize)
    vectors = np.concatenate(list(found))
    if not np.isfinite(vectors).all():
        first = texts[int(np.argmin(np.isfinite(vectors).all(axis=1)))]
        raise IsotropeError(f"'{encoder.name}' gives vectors that are not numbers, such as the one for: {first:.60}")
    return vectors


def _count(source: Source, size: int, column: str | None, shape: Shape, show_progress: bool) -> int | None:
    """Reads a file through once, for the bar, and so that a bad line is found now and not after hours."""
    if not isinstance(source, str | Path) or str(source) == "-" or not Path(source).is_file():
        return None  # a pipe can be read once only; what is missing is found when it is read
    rows, texts = 0, 0
    with waiting(f"Reading {source}", shown=show_progress):
        table = record_batches(source, size, column, shape)
        for batch in table.batches:
            texts += sum(text is not None for text in batch_texts(table, batch, shape, rows))
            rows += batch.num_rows
    if not texts:
        raise IsotropeError(f"{table.name}: no sentences in it (blank lines only)")
    return rows


def _gathered(chunks: Iterator[EncodedRows], advance: Display) -> Floats:
    found, blank = [], 0
    for rows in chunks:
        found.append(rows.vectors)
        blank += int(rows.blank.sum())
        advance(len(rows.texts))
    vectors = np.concatenate(found)
    if blank:
        log.warning("%d of %d rows are blank or missing; their vectors are zeros", blank, len(vectors))
    return vectors


def _written(
    chunks: Iterator[EncodedRows],
    advance: Display,
    encoder: Encoder | ForeignEncoder,
    output: Path,
    table: Batches,
    column: str,
) -> EncodedFile:
    began, before, rows, blank = time.monotonic(), encoder.truncated, 0, 0
    writer = WRITERS[output.suffix.lower()]
    with whole_or_nothing(output) as partial, writer(partial, table.schema, encoder.dim, column) as write:
        for some in chunks:
            write(some.batch, some.vectors, some.blank)
            advance(len(some.texts))
            rows, blank = rows + len(some.texts), blank + int(some.blank.sum())
    return EncodedFile(
        path=output,
        rows=rows,
        dim=encoder.dim,
        blank=blank,
        truncated=encoder.truncated - before,
        max_seq_length=encoder.max_seq_length,
        seconds=time.monotonic() - began,
    )
