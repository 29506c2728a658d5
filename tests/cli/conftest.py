from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from isotrope.cli import main


@dataclass
class Outcome:
    code: int
    out: str
    err: str


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of its own for each test."""
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("ISOTROPE_CACHE", str(folder))
    return folder


def _quick(arguments: Sequence[str]) -> Sequence[str]:
    """Runs write no report, which takes longer than they do, unless a test asks for one."""
    if arguments and arguments[0] in ("train", "tune") and "--report" not in arguments and len(arguments) > 2:
        return (arguments[0], "--no-report", *arguments[1:])
    return arguments


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Outcome]:
    """Runs the command in this process (torch is imported once for all tests), in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ISOTROPE_DATA", raising=False)

    def run(*arguments: str, stdin: bytes = b"") -> Outcome:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main(_quick(arguments))
        return Outcome(int(ended.value.code or 0), *capsys.readouterr())

    return run


@pytest.fixture
def spawn(tmp_path: Path) -> Callable[..., subprocess.Popen[str]]:
    """Starts the command as a process of its own, in an empty folder."""

    def spawn(*arguments: str, **environment: str) -> subprocess.Popen[str]:
        pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        command = [sys.executable, "-m", "isotrope", *_quick(arguments)]
        variables = {**os.environ, "OMP_NUM_THREADS": "1", **environment}
        return subprocess.Popen(command, cwd=tmp_path, env=variables, text=True, preexec_fn=_hear_interrupts, **pipes)

    return spawn


def _hear_interrupts() -> None:
    """Tests that run in the background of a shell have Ctrl-C ignored, and what they start would inherit that."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
