"""`isotrope encode`: a file of sentences to a file of vectors."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from isotrope.cli.console import many
from isotrope.cli.models import MODEL_HELP, check_models
from isotrope.cli.options import BatchSize, Column, Device, Force, Precision
from isotrope.io.atomic import check_output


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
    from isotrope.io.vector_files import WRITERS

    check_output(output, WRITERS, force=force)
    check_models([model], [pooling] if pooling else [])
    from isotrope.encoders import encode  # slow to import

    done = encode(
        source,
        model,
        output=output,
        column=column,
        pooling=pooling,
        batch_size=batch_size,
        normalize=normalize,
        device=device,
        precision=precision,
        force=force,
        show_progress=True,
    )
    typer.echo(
        f"{done.path}: {many(done.sentences, 'sentence')}, {done.dim} dimensions, {done.seconds:.1f} s, "
        f"{done.sentences / done.seconds:,.0f} sentences/s; {many(done.blank, 'blank line')} skipped, "
        f"{many(done.truncated, 'sentence')} truncated at {done.max_seq_length} tokens"
    )
