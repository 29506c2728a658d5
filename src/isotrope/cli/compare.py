"""`isotrope compare`: whether a tuned encoder is better on somebody's own text, without labels."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from isotrope.cli import console
from isotrope.cli.inspect import CorpusHelp, Seed
from isotrope.cli.models import MODEL_HELP, prepare_hub
from isotrope.cli.options import AsJson, BatchSize, Column, Device, Precision


def compare(
    before: Annotated[str, typer.Argument(metavar="BEFORE", help=MODEL_HELP)],
    after: Annotated[str, typer.Argument(metavar="AFTER", help=MODEL_HELP)],
    corpus: Annotated[str, typer.Argument(metavar="CORPUS", help=CorpusHelp)],
    column: Column = None,
    size: Annotated[
        int, typer.Option("--sentences", min=100, help="How many sentences of the text, and how many pairs at most.")
    ] = 1000,
    seed: Seed = 0,
    back_translate: Annotated[
        bool, typer.Option("--back-translate", help="Seek back-translations too, made on this machine.")
    ] = False,
    views: Annotated[
        Path | None, typer.Option(help="Seek rewordings too: a table of `isotrope views` (text, view1).")
    ] = None,
    batch_size: BatchSize = 64,
    device: Device = None,
    precision: Precision = None,
    as_json: AsJson = False,
) -> None:
    """Say whether encoder AFTER is better than BEFORE on your text, without labels.

    [dim]Example:[/] isotrope compare bundled runs/first/encoder sentences.txt
    """
    prepare_hub([before, after])
    with console.waiting("Starting"):
        from isotrope.evaluation import compare as measure

    found = measure(
        before,
        after,
        corpus,
        column=column,
        sentences=size,
        seed=seed,
        back_translate=back_translate,
        views=views,
        batch_size=batch_size,
        device=device,
        precision=precision,
        display=console,
    )
    console.print_result(found, as_json=as_json)
