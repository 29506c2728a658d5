"""Out of memory, said in one line, since each library has its own way to put it; and memory given back in time."""

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


def give_back() -> None:
    """Gives the system what was freed. glibc keeps it, and passes of ever other sizes leave ever more holes."""
    if trim := _malloc_trim():
        trim(0)


@cache
def _malloc_trim() -> Callable[[int], int] | None:
    """glibc's; other systems have none."""
    try:
        found: Callable[[int], int] = ctypes.CDLL(None).malloc_trim
    except (OSError, TypeError, AttributeError):
        return None
    return found
