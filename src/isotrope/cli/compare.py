"""`isotrope compare`: whether a tuned encoder is better on somebody's own text, without labels."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from isotrope.cli import console
from isotrope.cli.inspect import CorpusHelp, Seed
from isotrope.cli.models import MODEL_HELP, prepare_hub
from isotrope.cli.options import AsJson, BatchSize, Column, Columns, Device, Join, Precision, StripHtml
from isotrope.io.errors import IsotropeError

if TYPE_CHECKING:
    from isotrope.evaluation.results.printing import Printable


def compare(
    before: Annotated[str, typer.Argument(metavar="BEFORE", help=MODEL_HELP)],
    others: Annotated[
        list[str],
        typer.Argument(
            metavar="AFTER... CORPUS", help=f"{MODEL_HELP} One or more of them, then the text. {CorpusHelp}"
        ),
    ],
    column: Column = None,
    columns: Columns = None,
    join: Join = None,
    strip_html: StripHtml = False,
    size: Annotated[
        int, typer.Option("--sentences", min=100, help="How many sentences to use, and how many pairs at most.")
    ] = 1000,
    seed: Seed = 0,
    back_translate: Annotated[
        bool, typer.Option("--back-translate", help="Also compare on back-translations, made on this machine.")
    ] = False,
    views: Annotated[
        Path | None, typer.Option(help="Also compare on rewordings: a table made by `isotrope views` (text, view1).")
    ] = None,
    batch_size: BatchSize = 64,
    device: Device = None,
    precision: Precision = None,
    as_json: AsJson = False,
) -> None:
    """Say whether encoder AFTER is better than BEFORE on your text, without labels; with several, which is best.

    [dim]Example:[/] isotrope compare bundled runs/first/encoder sentences.txt
    """
    *after, corpus = others
    if not after:
        raise IsotropeError("give two models and a text: isotrope compare BEFORE AFTER CORPUS")
    prepare_hub([before, *after])
    with console.waiting("Starting"):
        from isotrope.evaluation import compare as compare_two
        from isotrope.evaluation import compare_all

    options: dict[str, Any] = {
        "column": column,
        "columns": columns,
        "join": join,
        "strip_html": strip_html,
        "sentences": size,
        "seed": seed,
        "back_translate": back_translate,
        "views": views,
        "batch_size": batch_size,
        "device": device,
        "precision": precision,
        "display": console,
    }
    several = len(after) > 1
    found: Printable = (
        compare_all(before, after, corpus, **options) if several else compare_two(before, after[0], corpus, **options)
    )
    console.print_result(found, as_json=as_json)
