"""One process, or the first of several that `torchrun` started."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, TypeVar

from isotrope.io.errors import IsotropeError

Made = TypeVar("Made")
GONE = ("Connection closed", "Connection reset", "Broken pipe", "Timed out waiting", "NCCL")  # how gloo and NCCL say it


def rank_and_world() -> tuple[int, int]:
    """The number of this process, and how many there are."""
    return int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))


def is_main_process() -> bool:
    """Whether this is the only process, or the first of several."""
    return rank_and_world()[0] == 0


def main_process_first() -> AbstractContextManager[Any]:
    """A context in which the others wait until the first is done."""
    waiting: AbstractContextManager[Any] = _group().main_process_first()
    return waiting


def made_by_main_process(make: Callable[[], Made]) -> Made:
    """What the first process makes, on all of them; it is pickled on its way."""
    from accelerate.utils import broadcast_object_list

    _group()
    made: Made = broadcast_object_list([make() if is_main_process() else None])[0]
    return made


@contextmanager
def all_alive(advice: Callable[[], str]) -> Iterator[None]:
    """One line where another process was killed or is gone, in place of the words of what connected them."""
    try:
        yield
    except RuntimeError as error:
        if rank_and_world()[1] == 1 or not any(words in str(error) for words in GONE):
            raise
        raise IsotropeError(f"another process of this run has ended, so this one ends too; {advice()}") from error


def _group() -> Any:
    """The processes, introduced to each other. Without being told, accelerate would see none on a CPU."""
    from accelerate import PartialState

    from isotrope.encoders.devices import default_device

    return PartialState(cpu=default_device() == "cpu")
