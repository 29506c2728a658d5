"""Memory that is freed and goes back to the system, and memory that is not enough, said in one line."""

from __future__ import annotations

import ctypes
import errno
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache

from isotrope.io.errors import IsotropeError

SAID = ("can't allocate memory", "out of memory", "bad_alloc")  # torch on a CPU, on a GPU; C++


@contextmanager
def enough_memory(advice: str) -> Iterator[None]:
    """What to do if the memory is not enough for what is done inside."""
    try:
        yield
    except (MemoryError, RuntimeError, OSError) as error:
        if not is_out_of_memory(error):
            raise
        raise IsotropeError(f"out of memory; {advice}") from error


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error of Python, numpy, torch or the system means that."""
    if isinstance(error, OSError):
        return error.errno == errno.ENOMEM
    return isinstance(error, MemoryError) or any(words in str(error).lower() for words in SAID)


def give_back_freed_memory() -> None:
    """Returns to the system what was freed; nothing happens where the C library is not glibc.

    glibc keeps it for the next request. Small objects that live long then settle in the place of large ones that were
    freed, the next large one no longer fits there, and a process grows by far more than it uses.
    """
    _trim()(0)


@cache
def _trim() -> Callable[[int], object]:
    try:
        found: Callable[[int], object] = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):  # musl and macOS don't have it, Windows has no library by no name
        return lambda keep: None
    return found
