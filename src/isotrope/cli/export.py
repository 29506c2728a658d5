"""`isotrope export`: an encoder for another runtime, beside a report of how near it is to the original."""

from pathlib import Path
from typing import Annotated

import typer

from isotrope.cli.console import print_result, waiting
from isotrope.cli.models import MODEL_HELP, prepare_hub
from isotrope.cli.options import AsJson, Column, Columns, Data, Join, StripHtml
from isotrope.io.atomic import check_folder


def export(
    model: Annotated[str, typer.Argument(metavar="MODEL", help=f"{MODEL_HELP} Also the folder of a run.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder to write.")],
    kind: Annotated[
        str,
        typer.Option(
            "--format",
            help="openvino or onnx: a graph for fast inference; static: one vector for each token; torch: unchanged.",
        ),
    ] = "openvino",
    int8: Annotated[bool, typer.Option("--int8", help="openvino, onnx: weights of 8 bits instead of 32.")] = False,
    dim: Annotated[
        int | None, typer.Option(min=1, help="Dimensions of the vectors.", show_default="all; static: 256")
    ] = None,
    text: Annotated[
        str | None,
        typer.Option(help="Text like that which it will read: .txt, .csv ...", show_default="the bundled sentences"),
    ] = None,
    column: Column = None,
    columns: Columns = None,
    join: Join = None,
    strip_html: StripHtml = False,
    pairs: Annotated[str, typer.Option(help="Task with graded pairs to compare on, such as stsb.")] = "bundled",
    data: Data = None,
    pooling: Annotated[str | None, typer.Option(help="As for encode.", show_default="the model's own")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the output.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write an encoder for another runtime, and say how close it is to the original.

    [dim]Example:[/] isotrope export runs/tickets --format openvino --int8 --text tickets.txt --output tickets-int8
    """
    check_folder(output, force=force)
    prepare_hub([model])
    with waiting("Exporting"):
        from isotrope.exporting.running import export as make

        done = make(
            model,
            kind,
            output,
            int8=int8,
            dim=dim,
            text=text,
            column=column,
            columns=columns,
            join=join,
            strip_html=strip_html,
            pairs=pairs,
            data=data,
            pooling=pooling,
            force=force,
        )
    print_result(done, as_json=as_json)
