"""`isotrope encode`: a file of sentences to a file of vectors."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from isotrope.cli.console import counting, many, waiting
from isotrope.cli.models import MODEL_HELP, check_models, load_encoder
from isotrope.cli.options import BatchSize, Column, Device, Force, Precision
from isotrope.io.atomic import check_output, whole_or_nothing
from isotrope.text import Counts, read_sentences

if TYPE_CHECKING:
    from isotrope.cli.vectors import Floats
    from isotrope.encoders import Encoder, PlainEncoder


def encode(
    source: Annotated[
        str,
        typer.Argument(
            metavar="INPUT", help="Sentences: .txt, .csv, .tsv, .jsonl or .parquet, each also .gz; or - for stdin."
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write: .npy, or .parquet with the text.")],
    model: Annotated[str, typer.Option("--model", "-m", help=MODEL_HELP)] = "bundled",
    column: Column = None,
    pooling: Annotated[
        str | None,
        typer.Option(
            help="cls, mean, max, last2, first-last or cls-mlp; mean@2 is the mean at layer 2.",
            show_default="the model's own",
        ),
    ] = None,
    batch_size: BatchSize = 32,
    normalize: Annotated[bool, typer.Option("--normalize", help="Scale every vector to length 1.")] = False,
    device: Device = None,
    precision: Precision = None,
    force: Force = False,
) -> None:
    """Turn a file of sentences into a file of vectors.

    [dim]Example:[/] isotrope encode reviews.csv --column review --output vectors.npy
    """
    from isotrope.cli.vectors import WRITERS

    check_output(output, WRITERS, force=force)
    total = _count(source, column)
    check_models([model], [pooling] if pooling else [])
    encoder = load_encoder(model, pooling=pooling, device=device, precision=precision)
    began, counts = time.monotonic(), Counts()
    sentences = read_sentences(source, column, counts)
    with (
        counting("Encoding", total) as advance,
        whole_or_nothing(output) as partial,
        WRITERS[output.suffix.lower()](partial, encoder.dim) as write,
    ):
        for texts, vectors in _with_vectors(encoder, sentences, batch_size, normalize):
            write(texts, vectors)
            advance(len(texts))
    seconds = time.monotonic() - began
    typer.echo(
        f"{output}: {many(counts.sentences, 'sentence')}, {encoder.dim} dimensions, {seconds:.1f} s, "
        f"{counts.sentences / seconds:,.0f} sentences/s; {many(counts.blank, 'blank line')} skipped, "
        f"{many(encoder.truncated, 'sentence')} truncated at {encoder.max_seq_length} tokens"
    )


def _count(source: str, column: str | None) -> int | None:
    """Reads a file through once, for the bar, and so that a bad line is found now and not after hours."""
    if source == "-" or not Path(source).is_file():
        return None  # a pipe can be read once only; what is missing is found when it is read
    with waiting(f"Reading {source}"):
        return sum(1 for _ in read_sentences(source, column))


def _with_vectors(
    encoder: Encoder | PlainEncoder, sentences: Iterable[str], batch_size: int, normalize: bool
) -> Iterator[tuple[list[str], Floats]]:
    """Chunks of sentences beside their vectors."""
    ahead: deque[str] = deque()  # taken by the encoder, vectors still to come

    def remembered() -> Iterator[str]:
        for sentence in sentences:
            ahead.append(sentence)
            yield sentence

    for vectors in encoder.encode_stream(remembered(), batch_size=batch_size, normalize_embeddings=normalize):
        yield [ahead.popleft() for _ in range(len(vectors))], vectors
