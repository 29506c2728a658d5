"""All cores of the machine, for work that leaves Python's own lock alone."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Given = TypeVar("Given")
Made = TypeVar("Made")


def on_all_cores(function: Callable[[Given], Made], items: Iterable[Given]) -> list[Made]:
    """`list(map(function, items))`, in as many threads as there are cores for this process."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    with ThreadPoolExecutor(cores) as threads:
        return list(threads.map(function, items))
