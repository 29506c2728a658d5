from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

import isotrope

Run = Callable[..., Any]
VERBS = ("encode", "evaluate", "layers", "pretrain", "doctor")


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], *([verb, "--help"] for verb in VERBS)])
def test_help_and_version_do_not_wait_for_torch(arguments: list[str]) -> None:
    code = (
        "import sys; sys.modules.update(dict.fromkeys(('torch', 'transformers', 'scipy', 'pyarrow', 'numpy')))\n"
        f"from isotrope.cli import main; main({arguments})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"isotrope {isotrope.__version__}" in done.stdout or "Usage: isotrope" in done.stdout


def test_without_a_command_it_shows_what_there_is(run: Run) -> None:
    done = run()
    assert done.code == 0
    assert all(verb in done.out for verb in VERBS)


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
