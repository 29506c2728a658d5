"""What every command that encodes a table asks: which table, which encoder, what its text is, and how to compute."""

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Annotated, get_type_hints

import typer

from isotrope.cli.models import MODEL_HELP
from isotrope.cli.options import BatchSize, Column, Device, Join, JoinedColumns, Precision, StripHtml

TableFile = Annotated[
    str, typer.Argument(metavar="TABLE", help="Text: .csv, .tsv, .jsonl, .parquet or .txt, each also .gz.")
]
ModelName = Annotated[str, typer.Option("--model", "-m", help=MODEL_HELP)]


def _options(
    column: Column = None,
    columns: JoinedColumns = None,
    join: Join = None,
    strip_html: StripHtml = False,
    batch_size: BatchSize = 32,
    device: Device = None,
    precision: Precision = None,
) -> None:
    """Never called: what the options are named, and what they are by default."""


def reads_a_table(command: Callable[..., None]) -> Callable[..., None]:
    """Puts the options above in the place of a command's `**options`, which gets them by name."""

    @wraps(command)
    def called(**given: object) -> None:
        command(**given)

    own, shared = (get_type_hints(function, include_extras=True) for function in (command, _options))
    types = {**{name: one for name, one in own.items() if name not in ("options", "return")}, **shared}
    types.pop("return", None)
    known = {**signature(command).parameters, **signature(_options).parameters}
    called.__annotations__ = types
    called.__dict__["__signature__"] = Signature(
        [known[name].replace(annotation=one, kind=Parameter.KEYWORD_ONLY) for name, one in types.items()]
    )
    return called
