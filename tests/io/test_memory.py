"""Memory that was freed goes back to the system."""

from __future__ import annotations

import ctypes

import psutil
import pytest

from isotrope.io.memory import give_back

BLOCK, BLOCKS = 2**16, 3000  # too small to be given back one by one


def test_what_was_freed_is_given_back() -> None:
    if not hasattr(ctypes.CDLL(None), "malloc_trim"):
        pytest.skip("needs glibc")
    memory = psutil.Process().memory_info
    blocks = [b"x" * BLOCK for _ in range(BLOCKS)]
    kept = blocks[-1]  # at the end, so that the heap can't shrink by itself
    blocks.clear()
    before = memory().rss
    give_back()
    assert before - memory().rss > BLOCK * BLOCKS // 2
    assert len(kept) == BLOCK
