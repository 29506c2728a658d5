"""Commands in processes of their own, forked from a server that has imported everything, and ways to end them."""

from __future__ import annotations

import faulthandler
import multiprocessing
import os
import resource
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

PRELOADED = [
    "isotrope.cli",
    "isotrope.training.run",
    "isotrope.training.pretrain",
    "isotrope.training.tuning",
    "isotrope.views.text.making",
    "isotrope.baselines.fitting",
    "isotrope.evaluation.geometry.inspections",
    "isotrope.retrieval.clustering",
    "isotrope.retrieval.indexing",
]
PATIENCE = 150  # seconds after which a command hangs


@lru_cache
def server() -> Any:
    """Where processes come from; they begin at once."""
    os.environ["OMP_NUM_THREADS"] = "1"  # bits depend on the number of threads
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
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
    began: float = field(default_factory=time.monotonic)

    def run(self, seconds: float | None = None, number: int = signal.SIGKILL) -> Ended:
        """Lets it end by itself, or sends it a signal after so many seconds."""
        said = [self.cache.with_name(f"{self.cache.name}.{name}") for name in ("out", "err")]
        process = server().Process(target=_main, args=(self, *said), daemon=False)
        limit = PATIENCE if seconds is None else seconds
        began = time.monotonic()
        ended_by(process, lambda: time.monotonic() - began > limit, number)
        if process.is_alive():
            process.kill()
            process.join()
            raise AssertionError(f"{self.arguments} hangs: {said[1].read_text(errors='replace')[-4000:]}")
        texts = [file.read_text(errors="replace") if file.exists() else "" for file in said]
        return Ended(process.exitcode, *texts, time.monotonic() - began)


def _main(command: Command, out: Path, err: Path) -> None:
    """What the process does: standard output and error go into files, signals are heard as in a shell."""
    import torch

    from isotrope.cli import main

    for stream, file in ((1, out), (2, err)):
        os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
    sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115
    faulthandler.dump_traceback_later(PATIENCE - 20)  # where it hangs, if it does
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # until the command begins to listen
    os.environ |= {"ISOTROPE_CACHE": str(command.cache), "HF_HUB_OFFLINE": "1"}
    os.chdir(command.folder)
    torch.set_num_threads(1)
    if command.memory is not None:
        has = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (has + command.memory,) * 2)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    main(command.arguments)
