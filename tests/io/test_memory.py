"""Freed memory goes back to the system."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest

from isotrope.io import memory
from isotrope.io.memory import give_back_freed_memory

MANY, LARGE, SMALL = 1000, 100_000, 1000  # bytes: both are malloc's, none is mapped by itself


def in_memory() -> int:
    """Bytes of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc keeps what is freed, and can be asked for it")
def test_what_lies_between_small_things_that_stay() -> None:
    before = in_memory()
    pairs = [(b"a" * LARGE, b"b" * SMALL) for _ in range(MANY)]
    stay = [small for _, small in pairs]
    del pairs
    kept = in_memory()
    give_back_freed_memory()
    assert len(stay) == MANY
    assert kept - before > 0.9 * MANY * LARGE
    assert in_memory() - before < 0.2 * MANY * LARGE


def test_where_the_c_library_has_no_such_call(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: None) -> object:
        raise OSError("no such library")

    memory._trim.cache_clear()
    monkeypatch.setattr(memory.ctypes, "CDLL", missing)
    give_back_freed_memory()
    memory._trim.cache_clear()
