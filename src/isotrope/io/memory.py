"""Memory that is freed and goes back to the system, and memory that is not enough, said in one line."""

from __future__ import annotations

import ctypes
import errno
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache

from isotrope.io.errors import IsotropeError

# What can be set of glibc's malloc: from malloc.h
TRIM_THRESHOLD, TOP_PAD, MMAP_THRESHOLD, MMAP_MAX = -1, -2, -3, -4
# Everything from one heap that grows by half a gigabyte (of addresses) at a time and never shrinks; and back, to where
# glibc's own adjustment ends in a process that has freed large blocks
KEEPING = {MMAP_MAX: 0, TRIM_THRESHOLD: 2**31 - 1, TOP_PAD: 2**29}
GIVING = {MMAP_MAX: 2**16, MMAP_THRESHOLD: 2**25, TRIM_THRESHOLD: 2**26, TOP_PAD: 2**17}
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


@contextmanager
def keeping_freed_memory() -> Iterator[None]:
    """Within, what is freed is kept for the next request; nothing changes where the C library is not glibc.

    glibc returns large blocks to the system at once, and every page of the next one costs an interrupt. A training step
    frees and asks for the same hundreds of megabytes over and over.
    """
    _set(KEEPING)
    try:
        yield
    finally:
        _set(GIVING)
        give_back_freed_memory()


def _set(options: dict[int, int]) -> None:
    if (mallopt := _glibc("mallopt")) is not None:
        for option, value in options.items():
            mallopt(option, value)


def give_back_freed_memory() -> None:
    """Returns to the system what was freed; nothing happens where the C library is not glibc.

    glibc keeps it for the next request. Small objects that live long then settle in the place of large ones that were
    freed, the next large one no longer fits there, and a process grows by far more than it uses.
    """
    if (trim := _glibc("malloc_trim")) is not None:
        trim(0)


@cache
def _glibc(name: str) -> Callable[..., object] | None:
    """A function of glibc's malloc. musl and macOS don't have `malloc_trim`, Windows has no library by no name."""
    try:
        library = ctypes.CDLL(None)
        _ = library.malloc_trim
        found: Callable[..., object] = getattr(library, name)
    except (AttributeError, OSError, TypeError):
        return None
    return found
