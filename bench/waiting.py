"""Who waits how long: the server's batching under the load of bench/serving.py, with a model that only takes its time.

    python bench/waiting.py [--seconds 60] [--connections 64] [--shares 0,0.25,0.5,1]

A pass takes 5 ms and 0.11 s for each thousand tokens, and no processor, so that a busy machine hardly shows. `--shares`
are those of a pass that go to the request that has waited longest (`isotrope.serving.batching.OLDEST`); the rest is for
one input of each request in turn.
"""

from __future__ import annotations

import argparse
import random
import threading
import time

import numpy as np
from rich.console import Console
from rich.table import Table

import isotrope
from isotrope.serving import batching
from isotrope.serving.limits import Limits
from isotrope.serving.models import ON_CPU
from serving import SIZES, mixed_texts

PASS, TOKEN = 0.005, 0.11 / 1000  # seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--shares", default="0,0.25,0.5,1")
    options = parser.parse_args()
    lengths = [len(ids) for ids in isotrope.load("small", device="cpu").tokenize(mixed_texts(600))]
    table = Table(title=f"{options.connections} connections, {options.seconds:.0f} s each; waiting times in s")
    for name in ("for the oldest", "requests", "mean", "median", "95%", "99%", "one text, median", "32 texts, median"):
        table.add_column(name, justify="right")
    for share in map(float, options.shares.split(",")):
        batching.OLDEST = share
        sizes, waits = (np.array(column) for column in zip(*press(lengths, options), strict=True))
        quantiles = np.quantile(waits, (0.5, 0.95, 0.99))
        medians = (np.median(waits[sizes == size]) for size in (1, 32))
        figures = (f"{value:.2f}" for value in (waits.mean(), *quantiles, *medians))
        table.add_row(f"{share:.0%}", f"{len(waits):,}", *figures)
    Console(width=140).print(table)


def press(lengths: list[int], options) -> list[tuple[int, float]]:
    """The texts of each request, and how long it waited."""
    limits, found = Limits(), []
    batcher = batching.Batcher(
        take_time, budget=ON_CPU, wait=limits.wait, most_waiting=limits.waiting_tokens, name="sleeper"
    )
    until = time.monotonic() + options.seconds

    def connection(number: int) -> None:
        draw = random.Random(number)
        while (began := time.monotonic()) < until:
            asked = [lengths[draw.randrange(len(lengths))] for _ in range(draw.choice(SIZES))]
            batcher.submit(asked, asked).result()
            found.append((len(asked), time.monotonic() - began))

    threads = [threading.Thread(target=connection, args=(number,)) for number in range(options.connections)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    batcher.close()
    return found


def take_time(lengths: list[int]) -> np.ndarray:
    time.sleep(PASS + TOKEN * sum(lengths))
    return np.zeros((len(lengths), 1), np.float32)


if __name__ == "__main__":
    main()
