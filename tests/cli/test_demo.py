from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import isotrope.demonstration

Run = Callable[..., Any]


def test_the_table_has_what_the_function_gives(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    some = isotrope.demonstration.load_pairs("bundled").rows(range(100))
    monkeypatch.setattr("isotrope.demonstration.RECIPES", {"simcse:bundled": 1})
    monkeypatch.setattr("isotrope.demonstration.load_pairs", lambda name: some)
    rows = isotrope.demo(Path("function"))
    assert [row.recipe for row in rows] == ["no tuning", "no tuning", "simcse:bundled"]
    assert Path("function/simcse-bundled/encoder/modules.json").is_file()
    done = run("demo")
    assert done.code == 0
    for row in rows:
        figures = f"{row.spearman:.2f}", f"{row.alignment:.2f}", f"{row.uniformity:.2f}"
        assert any(all(one in line for one in (row.recipe, row.pooling, *figures)) for line in done.out.splitlines())
