"""`isotrope encode`: a file of sentences to a file of vectors."""

from pathlib import Path
from typing import Annotated

import typer

from isotrope.cli.console import many
from isotrope.cli.models import MODEL_HELP, check_models
from isotrope.cli.options import BatchSize, Column, Device, Force, Join, JoinedColumns, Precision, StripHtml
from isotrope.io.atomic import check_output


def encode(
    source: Annotated[
        str,
        typer.Argument(
            metavar="INPUT", help="Sentences: .txt, .csv, .tsv, .jsonl or .parquet, each also .gz; or - for stdin."
        ),
    ],
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            help="Where to write: .npy, or .parquet for the table with its vectors; with --shard-size a folder.",
        ),
    ],
    model: Annotated[str, typer.Option("--model", "-m", help=MODEL_HELP)] = "bundled",
    column: Column = None,
    columns: JoinedColumns = None,
    join: Join = None,
    strip_html: StripHtml = False,
    vector_column: Annotated[str, typer.Option(help="Name of the column of vectors in a .parquet.")] = "embedding",
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
    shard_size: Annotated[
        int | None,
        typer.Option(min=1, help="Rows per file; the output is then a folder, or any fsspec address. Can be resumed."),
    ] = None,
    processes: Annotated[int, typer.Option(min=1, help="With --shard-size: number of processes.")] = 1,
    ray: Annotated[bool, typer.Option("--ray", help="With --shard-size: encode with Ray Data.")] = False,
    force: Force = False,
) -> None:
    """Turn text into vectors: a file of vectors, or the same table with a column of them. Rows keep their order.

    [dim]Example:[/] isotrope encode tickets.csv --columns Subject,Body --join ". " --output tickets.parquet
    """
    from isotrope.io.vector_files import WRITERS

    if shard_size is None:
        check_output(Path(output), WRITERS, force=force)
    check_models([model], [pooling] if pooling else [])
    from isotrope.encoders import encode  # slow to import

    done = encode(
        source,
        model,
        output=output,
        column=column,
        columns=columns,
        join=join,
        strip_html=strip_html,
        vector_column=vector_column,
        pooling=pooling,
        batch_size=batch_size,
        normalize=normalize,
        device=device,
        precision=precision,
        shard_size=shard_size,
        processes=processes,
        ray=ray,
        force=force,
        show_progress=True,
    )
    blank = "" if not done.blank else f" ({'zeros' if output.rstrip('/').lower().endswith('.npy') else 'null'})"
    files = f" in {many(done.shards, 'file')}" if done.shards else ""
    typer.echo(
        f"{output}: {many(done.rows, 'row')}{files}, {done.dim} dimensions, {done.seconds:.1f} s, "
        f"{done.rows / done.seconds:,.0f} rows/s; {many(done.blank, 'row')} without text{blank}, "
        f"{many(done.truncated, 'text')} truncated at {done.max_seq_length} tokens"
    )
