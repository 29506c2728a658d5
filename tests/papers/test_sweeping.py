"""A sweep: every combination once, in one table."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import isotrope
from isotrope.io.atomic import holder
from isotrope.io.errors import IsotropeError
from isotrope.papers.sweeping import grid_table
from isotrope.text import bundled_sentences

NOBODY = 2**22 + 1  # a process number beyond those that Linux gives out
SHORT = {"training.steps": 2, "training.batch_size": 4}


def test_a_grid_has_a_row_for_each_combination() -> None:
    grid = {"objective.temperature": [0.05, 0.1], "training.batch_size": [4, 8, 16]}
    table = grid_table("simcse", grid, "bundled", ["bundled"])
    assert [row.name for row in table.rows][:2] == [
        "objective.temperature=0.05, training.batch_size=4",
        "objective.temperature=0.05, training.batch_size=8",
    ]
    assert len(table.rows) == 6
    assert [column.name for column in table.columns] == ["bundled, dev", "bundled"]
    assert (table.picture.kind, table.rows[1].x, table.rows[1].y) == ("grid", "0.05", "8")
    assert grid_table("simcse", {"training.batch_size": [4, 8]}, "bundled", ()).picture.kind == "lines"
    assert grid_table("simcse", {"training.schedule": ["linear"]}, "bundled", ()).picture.kind == "dots"


@pytest.mark.parametrize(
    ("grid", "tasks", "message"),
    [
        ({"objective.temprature": [1]}, ["bundled"], "objective.temprature"),
        ({"objective.temperature": [-1]}, ["bundled"], "objective.temperature"),
        ({}, ["bundled"], "no values to try"),
        ({"objective.temperature": [0.1]}, [], "nothing to measure"),
    ],
)
def test_mistakes_are_found_before_the_first_run(grid: dict[str, Any], tasks: list[str], message: str) -> None:
    with pytest.raises(IsotropeError, match=message):
        grid_table("simcse", grid, None, tasks)


def test_it_runs_and_is_read_the_second_time(tiny: str, tmp_path: Path) -> None:
    text, grid = bundled_sentences()[:24], {"training.learning_rate": [1e-5, 1e-3]}
    given: dict[str, Any] = {"model": tiny, "seeds": 1, "tasks": ["bundled"], "set": SHORT, "output": tmp_path}
    found = isotrope.sweep("simcse", text, grid, **given)
    low, high = (one.seeds[0]["bundled"] for one in found.rows)
    assert low != high
    before = {file: file.stat().st_mtime_ns for file in tmp_path.rglob("figures/*.json")}
    assert len(before) == 3  # the untuned encoder too
    lease = tmp_path / "leases" / next(iter(before)).stem  # of one that was killed as it gave it back
    lease.write_text(holder().replace(str(os.getpid()), str(NOBODY)))
    assert isotrope.sweep("simcse", text, grid, **given).json() == found.json()
    assert not lease.exists()
    assert {file: file.stat().st_mtime_ns for file in tmp_path.rglob("figures/*.json")} == before
    for damage in (lambda text: text.replace(": 1", ": 2").replace(": 4", ": 5"), lambda text: text[:-9]):
        for file in before:
            file.write_text(damage(file.read_text()))
        assert isotrope.sweep("simcse", text, grid, **given).json() == found.json()  # measured again
    assert (tmp_path / "sweep.png").is_file()


def test_the_runs_that_a_step_is_timed_by_are_not_shown(
    tiny: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, grid = bundled_sentences()[:24], {"training.learning_rate": [1e-5, 1e-3]}
    given: dict[str, Any] = {"model": tiny, "seeds": 1, "tasks": ["bundled"], "set": SHORT, "output": tmp_path}
    found = isotrope.sweep("simcse", text, grid, **given, dry_run=True)
    assert capsys.readouterr().err == "Timing each recipe on a few rows ...\n"
    assert found.seconds is not None
    isotrope.sweep("simcse", text, grid, **given, dry_run=True)
    assert capsys.readouterr().err == ""  # what was measured is kept
