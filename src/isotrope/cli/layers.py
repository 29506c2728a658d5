"""`isotrope layers`: which layer, under which pooling, knows most about similarity."""

from pathlib import Path
from typing import Annotated

import typer

from isotrope.cli import console
from isotrope.cli.models import MODEL_HELP, prepare_hub
from isotrope.cli.options import AsJson, Data, Device, Force, Precision, Split
from isotrope.cli.pictures import check_picture, draw


def layers(
    model: Annotated[str, typer.Argument(metavar="MODEL", help=MODEL_HELP)],
    task: Annotated[str, typer.Option(help="Graded pairs to measure on; names as in `isotrope evaluate`.")] = "bundled",
    data: Data = None,
    split: Split = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Picture to draw: .png, .svg or .pdf.")] = None,
    device: Device = None,
    precision: Precision = None,
    as_json: AsJson = False,
    force: Force = False,
) -> None:
    """Measure every layer of a model with [CLS], mean and max pooling.

    [dim]Example:[/] isotrope layers bundled --output layers.png
    """
    check_picture(output, force=force)
    prepare_hub([model], local_data=task == "bundled")
    with console.waiting("Starting"):
        from isotrope.evaluation import layers as map_layers

    found = map_layers(model, task, data=data, split=split, device=device, precision=precision, display=console)
    draw(found, output)
    console.print_result(found, as_json=as_json)
