from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import isotrope
import isotrope.evaluation
from isotrope.evaluation import load_pairs
from isotrope.evaluation.geometry.layers import layer_map

Run = Callable[..., Any]


def test_json_is_the_librarys_map(run: Run) -> None:
    done = run("layers", "bundled", "--split", "dev", "--json")
    assert (done.code, done.err) == (0, "")
    found = json.loads(done.out)
    wanted = layer_map(isotrope.load(), load_pairs("bundled", split="dev"))
    assert (found["model"], found["task"], found["split"]) == ("bundled", "bundled", "dev")
    for pooling, line in wanted.spearman.items():
        for figure, shown in zip(line, found["spearman"][pooling], strict=True):
            assert (shown is None) if math.isnan(figure) else shown == round(figure, 2)
    pooling, layer = wanted.best
    assert found["best"] == {
        "pooling": pooling,
        "layer": layer,
        "spearman": round(wanted.spearman[pooling][layer], 2),
    }


def test_python_and_the_command_line_agree(run: Run) -> None:
    found = isotrope.evaluation.layers("bundled", split="dev")
    assert run("layers", "bundled", "--split", "dev", "--json").out == found.json()
    assert [line.rstrip() for line in run("layers", "bundled", "--split", "dev").out.splitlines()] == str(
        found
    ).splitlines()


def test_the_table_has_the_best_in_bold_and_the_picture_is_drawn(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    wanted = layer_map(isotrope.load(), load_pairs("bundled"))
    pooling, layer = wanted.best
    best = f"{wanted.spearman[pooling][layer]:.2f}"
    monkeypatch.setenv("FORCE_COLOR", "1")
    done = run("layers", "bundled", "--output", "map.png")
    assert done.code == 0
    assert done.out.count("\x1b[1m" + best + "\x1b[0m") == 1
    assert f"Best: pooling {pooling}@{layer} ({best})" in done.out
    assert "Picture: map.png" in done.err
    assert Path("map.png").read_bytes().startswith(b"\x89PNG")
    assert [path.name for path in Path().iterdir()] == ["map.png"]
