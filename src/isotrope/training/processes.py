"""One process, or the first of several that `torchrun` started."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from typing import Any


def rank_and_world() -> tuple[int, int]:
    """The number of this process, and how many there are."""
    return int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))


def is_main_process() -> bool:
    """Whether this is the only process, or the first of several."""
    return rank_and_world()[0] == 0


def main_process_first() -> AbstractContextManager[Any]:
    """A context in which the others wait until the first is done."""
    from accelerate import PartialState

    waiting: AbstractContextManager[Any] = PartialState().main_process_first()
    return waiting
