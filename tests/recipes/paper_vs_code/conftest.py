from __future__ import annotations

import gc

import pytest


@pytest.fixture(scope="session", autouse=True)
def little_to_collect() -> None:
    """Every run begins with a garbage collection, which is most of a small one unless what is imported is set aside."""
    gc.freeze()
