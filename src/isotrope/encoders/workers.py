"""Shards in several processes of this machine, or through Ray Data on any number of machines."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import islice
from multiprocessing import get_context
from typing import Any

import torch

from isotrope.encoders.encoding import EncodedFile
from isotrope.encoders.sharding import AHEAD, Runner, Shard, Work, Worker, Written, encode_shards, here
from isotrope.io.errors import IsotropeError
from isotrope.text.sources import Source

_worker: list[Worker] = []  # of this process, where it is one of several


def encode_apart(
    work: Work, source: Source, *, processes: int, ray: bool, device: str | None, **options: Any
) -> EncodedFile:
    """The shards of a table, by the workers that were asked for."""
    if processes < 1:
        raise IsotropeError(f"processes must be at least 1, not {processes}", argument="processes")
    if ray:
        run = through_ray(processes if processes > 1 else None)
    elif processes > 1:
        run = in_processes(processes, device.split(",") if device else ())
    else:
        run = here(device)
    return encode_shards(work, source, run, **options)


def in_processes(count: int, devices: Sequence[str] = ()) -> Runner:
    """`count` processes, each with an encoder of its own; on `devices` in turn, else sharing this one's threads."""

    def run(work: Work, missing: Iterator[Shard]) -> Iterator[Written]:
        context = get_context("spawn")
        places = context.Queue()
        for k in range(count):
            places.put(devices[k % len(devices)] if devices else None)
        threads = max(1, torch.get_num_threads() // count)
        with _in_words(), ProcessPoolExecutor(count, context, _start, (work, places, threads)) as pool:
            waiting: set[Future[Written]] = set()
            for shard in missing:
                waiting.add(pool.submit(_encode, shard))
                if len(waiting) >= AHEAD * count:
                    done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                    yield from (one.result() for one in done)
            yield from (one.result() for one in wait(waiting).done)

    return run


@contextmanager
def _in_words() -> Iterator[None]:
    try:
        yield
    except BrokenProcessPool as error:
        raise IsotropeError(
            "an encoding process has stopped: it could not load the model, or memory ran out; leave out processes=",
            argument="processes=",
        ) from error


def _start(work: Work, places: Any, threads: int) -> None:
    _worker.append(Worker(work, places.get(), threads))


def _encode(shard: Shard) -> Written:
    return _worker[0](shard)


def through_ray(count: int | None = None) -> Runner:
    """Actors of Ray Data, `count` of them (without it one for each processor of the cluster); the address is Ray's own
    setting, a cluster of this machine without one.
    """

    def run(work: Work, missing: Iterator[Shard]) -> Iterator[Written]:
        try:
            import ray
            import ray.data
        except ImportError as error:
            raise IsotropeError("Ray is not installed: pip install 'isotrope[ray]'") from error
        ray.init(ignore_reinit_error=True, log_to_driver=False, logging_level="ERROR", include_dashboard=False)
        ray.data.DataContext.get_current().enable_progress_bars = False
        logging.getLogger("ray.data").setLevel(logging.ERROR)  # it tells of every step of its plan
        workers = count or max(1, int(ray.cluster_resources().get("CPU", os.cpu_count() or 1)))
        while some := list(islice(missing, AHEAD * workers)):
            rows = ray.data.from_items([{"shard": shard} for shard in some], override_num_blocks=len(some))
            size = min(workers, len(some))
            pool = ray.data.ActorPoolStrategy(size=size)
            made = rows.map(RayWorker, fn_constructor_args=(work,), compute=pool, num_cpus=1)
            for row in made.iter_rows():
                yield Written(*(int(number) for number in row["written"]))  # NumPy's, by then

    return run


class RayWorker:
    """A worker as Ray Data calls it."""

    def __init__(self, work: Work) -> None:
        self.worker = Worker(work)

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        """One shard."""
        return {"written": list(self.worker(row["shard"]))}
