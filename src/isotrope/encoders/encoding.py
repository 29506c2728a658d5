"""Text from anywhere to vectors, in memory or in a file of any size."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias, overload

import numpy as np

from isotrope.encoders.encoder import Encoder
from isotrope.encoders.foreign import ForeignEncoder
from isotrope.encoders.loading import Model, load_any
from isotrope.encoders.pooling import Pooling
from isotrope.io.atomic import check_output, whole_or_nothing
from isotrope.io.errors import IsotropeError
from isotrope.io.memory import enough_memory
from isotrope.io.progress import Display, waiting
from isotrope.io.vector_files import WRITERS, Floats
from isotrope.text.sources import Counts, Source, read_sentences

log = logging.getLogger(__name__)

Chunks: TypeAlias = Iterator[tuple[list[str], Floats]]  # sentences beside their vectors


@dataclass(frozen=True)
class EncodedFile:
    """A file of vectors, and what went into it."""

    path: Path
    sentences: int
    dim: int
    blank: int  # lines or cells without text, which are not in the file
    truncated: int  # sentences that were cut off at `max_seq_length` tokens
    max_seq_length: int
    seconds: float


@overload
def encode(
    source: Source,
    model: Model = ...,
    *,
    output: None = ...,
    column: str | None = ...,
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
    pooling: str | Pooling | None = ...,
    batch_size: int = ...,
    normalize: bool = ...,
    device: str | None = ...,
    precision: str | None = ...,
    force: bool = ...,
    show_progress: bool = ...,
) -> EncodedFile: ...


def encode(
    source: Source,
    model: Model = "bundled",
    *,
    output: str | Path | None = None,
    column: str | None = None,
    pooling: str | Pooling | None = None,
    batch_size: int = 32,
    normalize: bool = False,
    device: str | None = None,
    precision: str | None = None,
    force: bool = False,
    show_progress: bool = False,
) -> Floats | EncodedFile:
    """Turns text into vectors.

    Args:
        source: sentences, a file, `-` for standard input, `hub:org/name[:split]`, or a table or column of pandas,
            polars, Arrow or `datasets`. Blank lines and missing cells are skipped, and counted.
        model: `"bundled"`, `"minilm"`, a folder, a name on the Hugging Face Hub, an `Encoder` or a
            `SentenceTransformer`.
        output: a file to write, .npy (vectors only) or .parquet (with the text), in constant memory. Without it the
            vectors are returned.
        column: the column of a table that holds the sentences; `text` or `sentence` needs no naming.
        pooling: `"mean"`, `"cls"`, `"last2"`, `"mean@2"` ...; without it the model's own.
        batch_size: sentences at a time.
        normalize: scales every vector to length 1.
        device: `"cpu"`, `"cuda"` ...; without it the fastest there is.
        precision: what it computes in, `"float32"`, `"bfloat16"` or `"float16"`; the vectors are float32.
        force: replaces a file that is there already.
        show_progress: shows a bar on a terminal.

    Returns:
        A float32 array (sentences, dim); with `output` an `EncodedFile`.

    Example:
        >>> from isotrope.encoders import encode
        >>> encode(["A dog runs.", "A cat sleeps."]).shape
        (2, 256)
    """
    if output is not None:
        check_output(Path(output), WRITERS, force=force)
    total, counts = _count(source, column, show_progress), Counts()
    with waiting(f"Loading {model}" if isinstance(model, str | Path) else "Loading", shown=show_progress):
        encoder = load_any(model, pooling=pooling, device=device, precision=precision)
    chunks = _with_vectors(encoder, read_sentences(source, column, counts), batch_size, normalize)
    with enough_memory("encode fewer sentences at a time"), Display("Encoding", total, shown=show_progress) as advance:
        if output is None:
            return _gathered(chunks, counts, advance)
        return _written(chunks, counts, advance, encoder, Path(output))


def _count(source: Source, column: str | None, show_progress: bool) -> int | None:
    """Reads a file through once, for the bar, and so that a bad line is found now and not after hours."""
    if not isinstance(source, str | Path) or str(source) == "-" or not Path(source).is_file():
        return None  # a pipe can be read once only; what is missing is found when it is read
    with waiting(f"Reading {source}", shown=show_progress):
        return sum(1 for _ in read_sentences(source, column))


def _gathered(chunks: Chunks, counts: Counts, advance: Display) -> Floats:
    found = []
    for _, vectors in chunks:
        found.append(vectors)
        advance(len(vectors))
    if counts.blank:
        log.warning("%d texts are blank or missing and have no vector; %d have one", counts.blank, counts.sentences)
    return np.concatenate(found)


def _written(
    chunks: Chunks, counts: Counts, advance: Display, encoder: Encoder | ForeignEncoder, output: Path
) -> EncodedFile:
    began, before = time.monotonic(), encoder.truncated
    with whole_or_nothing(output) as partial, WRITERS[output.suffix.lower()](partial, encoder.dim) as write:
        for texts, vectors in chunks:
            write(texts, vectors)
            advance(len(texts))
    return EncodedFile(
        path=output,
        sentences=counts.sentences,
        dim=encoder.dim,
        blank=counts.blank,
        truncated=encoder.truncated - before,
        max_seq_length=encoder.max_seq_length,
        seconds=time.monotonic() - began,
    )


def _with_vectors(
    encoder: Encoder | ForeignEncoder, sentences: Iterable[str], batch_size: int, normalize: bool
) -> Chunks:
    """Chunks of sentences beside their vectors."""
    ahead: deque[str] = deque()  # taken by the encoder, vectors still to come

    def remembered() -> Iterator[str]:
        for sentence in sentences:
            ahead.append(sentence)
            yield sentence

    for vectors in encoder.encode_stream(remembered(), batch_size=batch_size, normalize_embeddings=normalize):
        texts = [ahead.popleft() for _ in range(len(vectors))]
        if not np.isfinite(vectors).all():
            first = texts[int(np.argmin(np.isfinite(vectors).all(axis=1)))]
            raise IsotropeError(f"'{encoder.name}' gives vectors that are no numbers, such as that of: {first:.60}")
        yield texts, vectors
