"""Commands in processes of their own, and ways to end them.

Most are forked from a server that has imported everything, so that one takes a tenth of a second more than its work.
But for that they are processes like any other: exit codes, signals, files and threads are their own. A command can also
be started as a shell does it, which takes seconds: `forked=False`.
"""

from __future__ import annotations

import atexit
import faulthandler
import multiprocessing
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

PATIENCE = 150  # seconds after which a command hangs
CHANGES = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.link", "sqlite3.connect"}  # of Python's audit events


@lru_cache
def server() -> Any:
    """Where processes come from; they begin at once."""
    os.environ["OMP_NUM_THREADS"] = "1"  # bits depend on the number of threads
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.faults.preloaded"])
    first = context.Process(target=time.time)  # returns when the server has imported all, so no command waits for it
    first.start()
    first.join()
    return context


def ended_by(process: BaseProcess, when: Callable[[], bool], number: int = signal.SIGKILL) -> bool:
    """Starts a process and sends it a signal once `when()` is true; whether that kept it from coming to its end."""
    process.start()
    while process.is_alive() and not when():
        time.sleep(0.002)
    heard = process.is_alive()
    if heard and process.pid is not None:
        with suppress(ProcessLookupError):  # it has ended just now
            os.kill(process.pid, number)
    process.join(PATIENCE)
    return heard and process.exitcode != 0


@dataclass(frozen=True)
class Ended:
    """How a command ended: its exit code, minus the signal where that was it, and what it said."""

    code: int
    out: str
    err: str
    seconds: float
    touches: int  # how often it opened a file to write to it, named or removed one

    @property
    def has_one_clear_line(self) -> bool:
        """Whether it is a mistake in one line: what went before it are notes on the run."""
        *notes, last = self.err.splitlines() or [""]
        return self.code == 2 and last.startswith("Error: ") and not any(line.startswith("Error") for line in notes)


@dataclass
class Command:
    """An `isotrope` command in a folder, with a cache of its own; `memory`: bytes beyond those of its imports."""

    arguments: tuple[str, ...]
    folder: Path
    cache: Path
    memory: int | None = None
    touch: tuple[int, int] | None = None  # a number of a touch of a file, and the signal that comes with it

    def run(
        self,
        seconds: float = PATIENCE,
        number: int = signal.SIGKILL,
        *,
        when: Callable[[], bool] = lambda: False,
        forked: bool = True,
    ) -> Ended:
        """Lets it end by itself, or sends it a signal after so many seconds or once `when()` is true."""
        said = [self.cache.with_name(f"{self.cache.name}.{name}") for name in ("out", "err", "touches")]
        for file in said:
            file.write_bytes(b"")
        process = server().Process(target=_main, args=(self, *said), daemon=False) if forked else _Started(self, *said)
        began = time.monotonic()
        ended_by(process, lambda: time.monotonic() - began > seconds or when(), number)
        if process.is_alive():
            process.kill()
            process.join()
            raise AssertionError(f"{self.arguments} hangs: {said[1].read_text(errors='replace')[-4000:]}")
        out, err = (file.read_text(errors="replace") for file in said[:2])
        return Ended(process.exitcode, out, err, time.monotonic() - began, said[2].stat().st_size)

    @property
    def environment(self) -> dict[str, str]:
        """What it finds in its environment, beside what everybody has."""
        return {"ISOTROPE_CACHE": str(self.cache), "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}


class _Started:
    """A command that was started as a shell does it, with the methods of a forked one."""

    def __init__(self, command: Command, out: Path, err: Path, touches: Path) -> None:
        self.command, self.said = command, (out, err)

    def start(self) -> None:
        arguments = [sys.executable, "-m", "isotrope", *self.command.arguments]
        out, err = (os.open(file, os.O_WRONLY) for file in self.said)
        where: Any = {"cwd": self.command.folder, "env": os.environ | self.command.environment}
        where |= {"start_new_session": True, "preexec_fn": _hear_signals}
        self.process = subprocess.Popen(arguments, stdout=out, stderr=err, **where)
        self.pid, self.kill = self.process.pid, self.process.kill
        os.close(out)
        os.close(err)

    def is_alive(self) -> bool:
        return self.process.poll() is None

    def join(self, seconds: float | None = None) -> None:
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return

    @property
    def exitcode(self) -> int | None:
        return self.process.returncode


def _main(command: Command, out: Path, err: Path, touches: Path) -> None:
    """What a forked process does: standard output and error go into files, signals are heard as in a shell."""
    import torch

    from isotrope.cli import main

    for stream, file in ((1, out), (2, err)):
        os.dup2(os.open(file, os.O_WRONLY), stream)
    sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115
    os.setsid()
    faulthandler.dump_traceback_later(PATIENCE - 20)  # where it hangs, if it does
    _hear_signals()  # until the command begins to listen
    os.environ |= command.environment
    os.chdir(command.folder)
    torch.set_num_threads(1)
    if command.memory is not None:
        has = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (has + command.memory,) * 2)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    _count_touches(os.open(touches, os.O_WRONLY), command.touch)
    try:
        main(command.arguments)
    finally:
        _hear_signals()  # what comes now would be heard by multiprocessing
        atexit._run_exitfuncs()  # which that leaves out


def _hear_signals() -> None:
    """As a shell starts a command, even where this was started with nohup or in the background."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def _count_touches(file: int, touch: tuple[int, int] | None) -> None:
    """Writes a byte for each touch that changes a file, and has the signal come just before the one that is meant."""
    count = 0

    def audit(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal count
        if event in CHANGES or (event == "open" and arguments[2] & (os.O_WRONLY | os.O_RDWR)):
            count += 1
            os.write(file, b".")
            if touch and count == touch[0]:
                os.kill(os.getpid(), touch[1])

    sys.addaudithook(audit)
