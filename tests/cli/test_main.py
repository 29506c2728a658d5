from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

import isotrope
from isotrope.cli import app
from isotrope.io.errors import IsotropeError

Run = Callable[..., Any]
VERBS = ("encode", "evaluate", "layers", "pretrain", "tune", "doctor")


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], *([verb, "--help"] for verb in VERBS)])
def test_help_and_version_do_not_wait_for_torch(arguments: list[str]) -> None:
    code = (
        "import sys; sys.modules.update(dict.fromkeys(('torch', 'transformers', 'scipy', 'pyarrow', 'numpy')))\n"
        f"from isotrope.cli import main; main({arguments})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"isotrope {isotrope.__version__}" in done.stdout or "Usage: isotrope" in done.stdout


@pytest.mark.parametrize("verb", ["cluster", "duplicates"])
def test_an_output_that_can_not_be_written_does_not_wait_for_torch(verb: str, tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("A dog barks.\n")
    code = (
        "import sys; sys.modules.update(dict.fromkeys(('torch', 'transformers', 'scipy', 'pyarrow', 'numpy')))\n"
        f"from isotrope.cli import main; main(['{verb}', 'x.txt', '-o', 'c.csv'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (2, "Error: c.csv: the output's name must end in .parquet\n")


def test_without_a_command_it_shows_what_there_is(run: Run) -> None:
    done = run()
    assert done.code == 0
    assert all(verb in done.out for verb in VERBS)


def test_each_option_that_a_message_names_is_one() -> None:
    def options(command: Any) -> Iterator[str]:
        for parameter in command.params:
            yield from (*parameter.opts, *parameter.secondary_opts)
        for verb in getattr(command, "commands", {}).values():
            yield from options(verb)

    known = set(options(typer.main.get_command(app)))
    source = "".join(file.read_text() for file in Path(isotrope.__file__).parent.rglob("*.py"))
    named = set(re.findall(r'\b(?:argument=|as_typed\()"([^"{]+)"', source))
    assert len(named) > 20
    for argument in named:
        assert IsotropeError(argument, argument=argument).for_shell.split()[0] in known, argument


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["encod"], "Error: No such command 'encod'"),
        (["encode"], "Error: Missing argument 'INPUT'; see isotrope encode --help"),
        (["encode", "x.txt"], "Error: Missing option '--output' / '-o'; see isotrope encode --help"),
        (["encode", "x.txt", "-o", "x.npy", "--batch-size", "0"], "Error: Invalid value for '--batch-size'"),
        (["layers", "bundled", "--layer", "2"], "Error: No such option: --layer"),
    ],
)
def test_a_command_line_that_makes_no_sense_is_one_line(run: Run, arguments: list[str], message: str) -> None:
    done = run(*arguments)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert done.err.startswith(message)


def test_ctrl_c_is_quiet(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*arguments: Any, **options: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("isotrope.cli.encode.check_output", interrupted)
    done = run("encode", "x.txt", "--output", "x.npy")
    assert (done.code, done.out, done.err) == (130, "", "")


def test_ctrl_c_is_quiet_before_the_command_line_is_read(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*arguments: Any, **options: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("isotrope.cli._command", interrupted)
    done = run("recipes", "list")
    assert (done.code, done.out, done.err) == (130, "", "")


def test_a_signal_while_a_class_is_made_is_quiet(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python makes a RuntimeError of it, and some `except Exception` a line about something else."""

    class Named:
        def __set_name__(self, owner: type, name: str) -> None:
            sys.exit(128 + signal.SIGTERM)

    def imported(*arguments: Any, **options: Any) -> None:
        try:
            type("Made", (), {"field": Named()})
        except Exception as error:
            raise isotrope.IsotropeError("a package is missing") from error

    monkeypatch.setattr("isotrope.cli.encode.check_output", imported)
    done = run("encode", "x.txt", "--output", "x.npy")
    assert (done.code, done.out, done.err) == (128 + signal.SIGTERM, "", "")


def test_errors_that_lead_to_each_other_are_told_as_any(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(*arguments: Any, **options: Any) -> None:
        first, second = isotrope.IsotropeError("one line"), ValueError("another")
        first.__cause__, second.__context__ = second, first
        raise first

    monkeypatch.setattr("isotrope.cli.encode.check_output", wrong)
    done = run("encode", "x.txt", "--output", "x.npy")
    assert (done.code, done.err) == (2, "Error: one line\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("arguments", [("--version",), ("recipes", "show", "simcse"), ("recipes", "list")])
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_output_that_can_not_be_written_is_one_line(arguments: tuple[str, ...], unbuffered: str) -> None:
    command = [sys.executable, "-m", "isotrope", *arguments]
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": unbuffered}
        )
    assert (done.returncode, done.stderr) == (
        2,
        "Error: standard output: can't be written (No space left on device)\n",
    )


def test_a_pipe_that_is_closed_early_is_no_traceback(spawn: Callable[..., subprocess.Popen[str]]) -> None:
    process = spawn("recipes", "show", "simcse")
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == ""
    assert process.wait(60) == 1


def test_what_a_file_holds_reaches_the_terminal_short_and_without_escape_sequences(run: Run) -> None:
    Path("x.jsonl").write_text('{"' + "\\u001b]0;owned\\u0007" + "long" * 9999 + '": "A dog."}\n')
    done = run("encode", "x.jsonl", "--output", "x.npy", "--column", "text")
    assert done.code == 2
    assert done.err.startswith(r"Error: x.jsonl: no column 'text'; it has: \x1b]0;owned\x07longlong")
    assert (len(done.err) < 520, done.err.count("\n")) == (True, 1)


def test_names_that_are_too_long_are_one_line(run: Run) -> None:
    for arguments in (("x" * 5000 + ".txt", "-o", "x.npy"), ("-", "-o", "x" * 5000 + ".npy")):
        done = run("encode", *arguments)
        assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
        assert "File name too long" in done.err


REMOVED = """
import os, signal, sys, time
from isotrope import cli
signal.signal(signal.SIGTERM, cli._stop)
sys.unraisablehook = cli._heard_again
class Removed:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0.1)
Removed()
time.sleep(60)
"""


def test_a_signal_is_heard_while_an_object_is_removed() -> None:
    done = subprocess.run([sys.executable, "-c", REMOVED], capture_output=True, text=True, timeout=50, check=False)
    assert (done.returncode, done.stderr) == (128 + signal.SIGTERM, "")


STARTING = """
import os, signal, threading
from concurrent.futures import ThreadPoolExecutor
from isotrope import cli
start = threading.Thread.start
def interrupted(thread):
    threading.Thread.start = start
    thread.start()
    os.kill(os.getpid(), signal.SIGTERM)
@cli.app.command()
def load():
    pool = ThreadPoolExecutor(1)  # as transformers has one for the weights, and no `with` around it
    threading.Thread.start = interrupted
    pool.submit(int)
cli.main(["load"])
"""


def test_a_signal_while_a_thread_starts_ends_the_command() -> None:
    """A thread that its pool does not know of yet is told by nobody to end, and Python would wait for it."""
    done = subprocess.run([sys.executable, "-c", STARTING], capture_output=True, text=True, timeout=50, check=False)
    assert (done.returncode, done.stderr) == (128 + signal.SIGTERM, "")
