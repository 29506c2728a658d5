"""The benches are not run here, but they speak of the package as it is."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[1] / "bench"


@pytest.mark.parametrize("name", sorted(file.stem for file in BENCH.glob("*.py")))
def test_it_can_be_imported(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(BENCH)
    assert importlib.import_module(name).__doc__
