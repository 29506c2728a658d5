"""The command `isotrope`: one file per verb, each of which parses, calls the library and prints.

Nothing here imports torch before a command needs it, so that `--help` and mistakes in the arguments answer at once.
"""

from __future__ import annotations

import errno
import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from types import FrameType
from typing import Annotated, Any, NoReturn

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
    export,
    finetune,
    groups,
    index,
    inspect,
    layers,
    pairs,
    pretrain,
    push,
    recipes,
    report,
    reproduce,
    serve,
    sweep,
    train,
    tune,
    views,
)
from isotrope.io.errors import IN_SHELL, IsotropeError, one_line, reason
from isotrope.io.memory import enough_memory
from isotrope.training.interruption import HANG_UP, Interrupted

app = typer.Typer(name="isotrope", add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich")
for verb in (train.train, encode.encode, evaluate.evaluate, layers.layers, pretrain.pretrain, demo.demo, doctor.doctor):
    app.command()(verb)
app.command()(tune.tune)
app.command()(report.report)
app.command()(push.push)
app.command()(export.export)
app.command()(index.index)
app.command()(index.search)
app.command()(serve.serve)
app.command()(groups.paraphrases)
app.command()(groups.duplicates)
app.command()(groups.cluster)
app.command()(inspect.inspect)
app.command()(compare.compare)
app.command()(views.views)
app.command()(baseline.baseline)
app.command()(finetune.finetune)
app.command()(reproduce.reproduce)
app.command()(sweep.sweep)
app.add_typer(recipes.app, name="recipes")
app.add_typer(pairs.app, name="pairs")
app.add_typer(cache.app, name="cache")
_NO_OUTPUT = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Runs a command line. A mistake is one line on standard error and exit code 2; Ctrl-C is exit code 130."""
    for number in (signal.SIGTERM, *HANG_UP):
        if signal.getsignal(number) != signal.SIG_IGN:  # nohup has it ignored
            signal.signal(number, _stop)
    sys.unraisablehook = _heard_again
    if "" not in sys.path and os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())  # for kinds of one's own, `package.module:Name`, as uvicorn and gunicorn do
    in_shell = IN_SHELL.set(True)
    try:
        with _quiet_signals(), enough_memory("process less at a time, or use a machine with more memory"):
            code = _command()(arguments, prog_name="isotrope", standalone_mode=False)
        sys.stdout.flush()
    except Interrupted as stopped:
        typer.echo(stopped.for_shell.capitalize(), err=True)
        code = stopped.exit_code
    except IsotropeError as error:
        _complain(error.for_shell)
    except typer.TyperException as error:
        context = getattr(error, "ctx", None)
        said = error.format_message().rstrip(".").replace("Value error, ", "")  # pydantic's, before our own words
        _complain(f"{said}; see {context.command_path if context else 'isotrope'} --help")
    except OSError as error:  # of a closed pipe typer makes a quiet exit
        if error.filename is None and error.errno not in _NO_OUTPUT:
            raise
        _drop_output()
        where = error.filename or "standard output: can't be written"
        _complain(f"{os.fsdecode(where)} ({reason(error)})")
    finally:
        IN_SHELL.reset(in_shell)
    sys.exit(code)


@app.callback(invoke_without_command=True)
def isotrope(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.", is_eager=True)] = False,
) -> None:
    """Sentence embeddings tuned on raw text."""
    if version:
        typer.echo(f"isotrope {__version__}")
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())


@lru_cache
def _command() -> Any:
    """The verbs as typer reads them off their functions, which takes longer than some of them do."""
    return typer.main.get_command(app)


def _complain(message: str) -> NoReturn:
    label = typer.style("Error:", fg=typer.colors.RED, bold=True)
    typer.echo(f"{label} {one_line(message)}", err=True)
    sys.exit(2)


def _drop_output() -> None:
    """Throws away what standard output did not take; Python would try again at its end, and complain."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _stop(number: int, frame: FrameType | None) -> NoReturn:
    """As an exception, so that half-written files are removed on the way out."""
    sys.exit(128 + number)


@contextmanager
def _quiet_signals() -> Iterator[None]:
    """A signal is an exit code and no more, whatever was made of it on the way: Python itself turns one that comes
    while a class is made into a RuntimeError, and an import that fails may be taken for a missing package.
    """
    try:
        yield
    except BaseException as error:
        if code := _signalled(error):
            sys.exit(code)
        raise


def _signalled(error: BaseException) -> int | None:
    """The exit code, if a signal is behind an error. What its frames held is let go: Python waits at its end for a
    thread that was just starting in a pool of somebody's, which lives on for as long as that pool does.
    """
    links = _behind(error)
    codes = [128 + signal.SIGINT for link in links if isinstance(link, KeyboardInterrupt)]
    codes += [link.code for link in links if isinstance(link, SystemExit) and isinstance(link.code, int)]
    code = next((code for code in codes if code > 128), None)
    for link in links if code else []:
        traceback.clear_frames(link.__traceback__)
    return code


def _behind(error: BaseException) -> list[BaseException]:
    """An exception and those that led to it; each once, for they may lead to each other."""
    found = [error]
    for link in found:
        found += [one for one in (link.__cause__, link.__context__) if one is not None and one not in found]
    return found


def _heard_again(lost: sys.UnraisableHookArgs) -> None:
    """A signal that comes while Python removes an object, where exceptions are dropped, is given again."""
    numbers = {KeyboardInterrupt: int(signal.SIGINT), SystemExit: (getattr(lost.exc_value, "code", None) or 128) - 128}
    if number := numbers.get(lost.exc_type):
        threading.Timer(0.05, os.kill, (os.getpid(), number)).start()
    else:
        sys.__unraisablehook__(lost)
