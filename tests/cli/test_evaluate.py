from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import isotrope
from isotrope.evaluation.sts import evaluate
from isotrope.text import bundled_pairs_path, read_table

Run = Callable[..., Any]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Bundled pairs, laid out as STS13 and STS14 with two subtasks each."""
    folder = tmp_path / "data"
    (folder / "sts").mkdir(parents=True)
    rows = list(read_table(bundled_pairs_path()))
    for name, some in (("sts13", rows[:60]), ("sts14", rows[60:100])):
        lines = (
            f"{'even' if i % 2 == 0 else 'odd'}\t{row['score']}\t{row['sentence1']}\t{row['sentence2']}\n"
            for i, row in enumerate(some)
        )
        (folder / "sts" / f"{name}.tsv").write_text("subtask\tscore\tsentence1\tsentence2\n" + "".join(lines))
    return folder


def test_json_is_what_the_library_measures(run: Run, data: Path) -> None:
    done = run("evaluate", "bundled", "--tasks", "sts13,sts14", "--pooling", "mean,cls", "--data", str(data), "--json")
    assert (done.code, done.err) == (0, "")
    results = json.loads(done.out)["results"]
    assert [(entry["model"], entry["pooling"]) for entry in results] == [("bundled", "mean"), ("bundled", "cls")]
    for entry in results:
        encoder = isotrope.load(pooling=entry["pooling"])
        measured = {task: evaluate(encoder, task, data=data) for task in ("sts13", "sts14")}
        assert entry["tasks"] == {task: result.as_json() for task, result in measured.items()}
        assert entry.keys() == {"model", "pooling", "tasks", "average"}
        assert entry["average"] == round(sum(result.spearman["all"] for result in measured.values()) / 2, 2)
    task = results[0]["tasks"]["sts13"]
    assert task.keys() == {"spearman", "pearson", "pairs", "split"}
    assert task["spearman"].keys() == task["pearson"].keys() == {"all", "mean", "wmean"}
    assert (task["pairs"], task["split"]) == (60, "test")


def test_a_split_can_be_chosen(run: Run) -> None:
    done = run("evaluate", "bundled", "--split", "dev", "--json")
    (entry,) = json.loads(done.out)["results"]
    assert entry["pooling"] == "mean"  # the model's own
    assert entry["tasks"]["bundled"] == evaluate(isotrope.load(), "bundled", split="dev").as_json()
    assert (entry["tasks"]["bundled"]["split"], entry["tasks"]["bundled"]["pairs"]) == ("dev", 110)


def test_the_table_has_a_row_for_each_pooling_with_the_best_in_bold(
    run: Run, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ("evaluate", "bundled", "--tasks", "sts13,sts14", "--pooling", "mean,max", "--data", str(data))
    plain = run(*arguments)
    assert plain.err == ""
    assert "\x1b" not in plain.out
    assert all(word in plain.out for word in ("bundled", "sts13", "sts14", "test, 60 pairs", "Average", "mean", "max"))
    results = json.loads(run(*arguments, "--json").out)["results"]
    monkeypatch.setenv("FORCE_COLOR", "1")
    colourful = run(*arguments).out
    columns = [
        *([entry["tasks"][task]["spearman"]["all"] for entry in results] for task in ("sts13", "sts14")),
        [entry["average"] for entry in results],
    ]
    for column in columns:
        assert f"\x1b[1m{max(column):.2f}\x1b[0m" in colourful
        assert f" {min(column):.2f} " in colourful


def test_its_own_pooling_keeps_what_was_trained_behind_it(run: Run, tmp_path: Path) -> None:
    isotrope.load(pooling="cls-mlp").save(tmp_path / "model")
    own = json.loads(run("evaluate", "model", "--json").out)["results"]
    (same,) = json.loads(run("evaluate", "model", "--pooling", own[0]["pooling"], "--json").out)["results"]
    assert same == own[0]
