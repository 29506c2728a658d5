"""Freed memory goes back to the system."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

from isotrope.io import memory

# In a process of its own. Of 100,000 and 8,000 bytes none is mapped by itself. There are no holes of 8,000 bytes where
# the small ones could all lie: compiling a module at its first import may leave a megabyte of smaller ones.
SCRIPT = """
from pathlib import Path
from isotrope.io.memory import give_back_freed_memory

def megabytes():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1e6

before = megabytes()
pairs = [(b"a" * 100_000, b"b" * 8000) for _ in range(1000)]
stay = [small for _, small in pairs]
del pairs
kept = megabytes()
give_back_freed_memory()
print(kept - before, megabytes() - before)
"""


# Blocks as large as the gradient of a word table, of which glibc would map each by itself; a page each is written to.
AGAIN = """
import resource
from isotrope.io.memory import keeping_freed_memory

def faults(times):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(times):
        block = bytearray(48_000_000)
        block[::4096] = b"1" * len(range(0, len(block), 4096))
        del block
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

print(faults(10))
with keeping_freed_memory():
    faults(1)
    print(faults(10))
print(faults(10))
"""

only_glibc = pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc", reason="only glibc keeps what is freed, and can be asked for it"
)


@only_glibc
def test_pages_of_freed_memory_are_used_again_while_it_is_kept() -> None:
    said = subprocess.run([sys.executable, "-c", AGAIN], capture_output=True, text=True, check=True).stdout
    before, kept, after = map(int, said.split())
    assert before > 100_000
    assert kept < 1000
    assert after > 100_000


@only_glibc
def test_what_lies_between_small_things_that_stay() -> None:
    said = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True).stdout
    kept, left = map(float, said.split())
    assert kept > 90
    assert left < 20


def test_where_the_c_library_has_no_such_call(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: None) -> object:
        raise OSError("no such library")

    memory._glibc.cache_clear()
    monkeypatch.setattr(memory.ctypes, "CDLL", missing)
    memory.give_back_freed_memory()
    with memory.keeping_freed_memory():
        pass
    memory._glibc.cache_clear()
