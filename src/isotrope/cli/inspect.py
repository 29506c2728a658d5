"""`isotrope inspect`: how the vectors of a text lie, in figures, in plain words and in a picture."""

from pathlib import Path
from typing import Annotated

import typer

from isotrope.cli import console
from isotrope.cli.models import MODEL_HELP, prepare_hub
from isotrope.cli.options import AsJson, BatchSize, Column, Columns, Data, Device, Force, Join, Precision, StripHtml
from isotrope.cli.pictures import check_picture, draw

CorpusHelp = "Your text: .txt, .csv, .tsv, .jsonl or .parquet, each also .gz; or - for stdin."
Seed = Annotated[int, typer.Option(min=0, help="Another seed picks other sentences from a large text.")]


def inspect(
    models: Annotated[list[str], typer.Argument(metavar="MODEL...", help=MODEL_HELP)],
    corpus: Annotated[str, typer.Argument(metavar="CORPUS", help=CorpusHelp)],
    column: Column = None,
    columns: Columns = None,
    join: Join = None,
    strip_html: StripHtml = False,
    size: Annotated[int, typer.Option("--sentences", min=20, help="How many sentences to use.")] = 1000,
    seed: Seed = 0,
    task: Annotated[
        str | None,
        typer.Option(help="Graded pairs on which to remove frequent tokens too; names as in `isotrope evaluate`."),
    ] = None,
    data: Data = None,
    picture: Annotated[Path | None, typer.Option("--plot", help="Picture to draw: .png, .svg or .pdf.")] = None,
    batch_size: BatchSize = 64,
    device: Device = None,
    precision: Precision = None,
    as_json: AsJson = False,
    force: Force = False,
) -> None:
    """Show how an encoder spreads the sentences of a text in its space; several encoders side by side.

    [dim]Example:[/] isotrope inspect bundled runs/first/encoder sentences.txt --plot space.png
    """
    check_picture(picture, force=force)
    prepare_hub(models, local_data=task in (None, "bundled"))
    with console.waiting("Starting"):
        from isotrope.evaluation import inspect as look

    found = look(
        models,
        corpus,
        column=column,
        columns=columns,
        join=join,
        strip_html=strip_html,
        sentences=size,
        seed=seed,
        task=task,
        data=data,
        batch_size=batch_size,
        device=device,
        precision=precision,
        display=console,
    )
    draw(found, picture)
    console.print_result(found, as_json=as_json)
