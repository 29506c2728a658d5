"""The command `isotrope`: one file per verb, each of which parses, calls the library and prints.

Nothing here imports torch before a command needs it, so that `--help` and mistakes in the arguments answer at once.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from types import FrameType
from typing import Annotated, NoReturn

import typer

from isotrope import __version__
from isotrope.cli import (
    baseline,
    cache,
    compare,
    demo,
    doctor,
    encode,
    evaluate,
    finetune,
    inspect,
    layers,
    pairs,
    pretrain,
    recipes,
    train,
    views,
)
from isotrope.io.errors import IsotropeError
from isotrope.training.interruption import Interrupted

app = typer.Typer(name="isotrope", add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich")
for verb in (train.train, encode.encode, evaluate.evaluate, layers.layers, pretrain.pretrain, demo.demo, doctor.doctor):
    app.command()(verb)
app.command()(inspect.inspect)
app.command()(compare.compare)
app.command()(views.views)
app.command()(baseline.baseline)
app.command()(finetune.finetune)
app.add_typer(recipes.app, name="recipes")
app.add_typer(pairs.app, name="pairs")
app.add_typer(cache.app, name="cache")


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Runs a command line. A mistake is one line on standard error and exit code 2; Ctrl-C is exit code 130."""
    signal.signal(signal.SIGTERM, _stop)
    try:
        code = app(arguments, prog_name="isotrope", standalone_mode=False)
    except Interrupted as stopped:
        typer.echo(f"Stopped at step {stopped.step}; continue with --resume", err=True)
        code = stopped.exit_code
    except IsotropeError as error:
        _complain(str(error))
    except typer.TyperException as error:
        context = getattr(error, "ctx", None)
        _complain(f"{error.format_message().rstrip('.')}; see {context.command_path if context else 'isotrope'} --help")
    sys.exit(code)


@app.callback(invoke_without_command=True)
def isotrope(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and leave.", is_eager=True)] = False,
) -> None:
    """Sentence embeddings from raw text."""
    if version:
        typer.echo(f"isotrope {__version__}")
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())


def _complain(message: str) -> NoReturn:
    label = typer.style("Error:", fg=typer.colors.RED, bold=True)
    typer.echo(f"{label} {' '.join(message.splitlines())}", err=True)
    sys.exit(2)


def _stop(number: int, frame: FrameType | None) -> NoReturn:
    """As an exception, so that half-written files are removed on the way out."""
    sys.exit(128 + number)
