"""Contestants that take turns: each trains in a process of its own and stops at a gate until it is its turn again.

A step's time is that of the processor (all threads of the process) and that of the clock; on a busy machine the
first is the one to trust. Peak memory is that of the process, so no contestant pays for another.
"""

from __future__ import annotations

import multiprocessing
import resource
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from statistics import median
from typing import Any, NamedTuple

from torch.utils.flop_counter import FlopCounterMode

WARM_UP = 3  # steps whose time does not count; the operations of all but the first do


class Time(NamedTuple):
    cpu: float
    wall: float


class Gate:
    """Stands behind every step of a contestant, who calls it with nothing."""

    def __init__(self, pipe: Connection) -> None:
        self.pipe, self.times, self.left, self.facts = pipe, [], WARM_UP, {}
        self.counter, self.steps = FlopCounterMode(display=False), 0
        self._start()

    def __call__(self) -> None:
        self.times.append(Time(time.process_time() - self.began.cpu, time.perf_counter() - self.began.wall))
        self.left -= 1
        self.steps += 1
        if self.steps == 1:
            self.counter.__enter__()
        elif self.steps == WARM_UP:
            self.counter.__exit__(None, None, None)
            self.facts["gflop"] = self.counter.get_total_flops() / 1e9 / (WARM_UP - 1)
        if not self.left:
            self.pipe.send((self.times, self.facts | {"memory": peak_memory()}))
            self.left, self.times = self.pipe.recv(), []
        self._start()

    def _start(self) -> None:
        self.began = Time(time.process_time(), time.perf_counter())


@dataclass
class Contestant:
    """`train(gate, *arguments)` trains without end, and calls the gate behind each step."""

    name: str
    train: Callable[..., None]
    arguments: tuple[Any, ...] = ()
    times: list[Time] = field(default_factory=list)
    facts: dict[str, float] = field(default_factory=dict)  # memory: the most so far, in MB; gflop: the mean step's

    def start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_run, args=(theirs, self.train, self.arguments), daemon=True)
        self.process.start()
        theirs.close()
        self.pipe.recv()  # warm

    def turn(self, steps: int) -> Time:
        self.pipe.send(steps)
        times, self.facts = self.pipe.recv()
        self.times += times
        return Time(*(median(one[k] for one in times) for k in (0, 1)))

    def stop(self) -> None:
        self.process.kill()  # a run of ours would end its step first, and wait at the gate for ever
        self.process.join()


class Ratio(NamedTuple):
    """How often one goes into another: the median of the rounds, the least and the most."""

    middle: float
    least: float
    most: float

    @classmethod
    def of(cls, rounds: Sequence[float]) -> Ratio:
        return cls(median(rounds), min(rounds), max(rounds))

    def __str__(self) -> str:
        return f"{self.middle:.2f}x ({self.least:.2f}-{self.most:.2f})"


def race(contestants: Sequence[Contestant], rounds: int, steps: int) -> list[list[Time]]:
    """The median step of each contestant in each round; within a round all have their turn, one after the other."""
    started: list[Contestant] = []
    try:
        for one in contestants:
            started.append(one)
            one.start()
        return [[one.turn(steps) for one in contestants] for _ in range(rounds)]
    finally:
        for one in started:
            one.stop()


def peak_memory() -> float:
    """Of this process, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _run(pipe: Connection, train: Callable[..., None], arguments: tuple[Any, ...]) -> None:
    train(Gate(pipe), *arguments)
