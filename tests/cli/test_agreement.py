"""What the command line prints or writes is what the function of that name gives; verbs with no such test elsewhere."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import isotrope
from isotrope.text import bundled_sentences

Run = Callable[..., Any]


@pytest.fixture
def finished(run: Run) -> str:
    """A run in the folder where commands run."""
    isotrope.train(bundled_sentences()[:40], "simcse", "bundled", "done", steps=1, set={"training.batch_size": 4})
    return "done"


def test_export(run: Run) -> None:
    done = run("export", "bundled", "--format", "torch", "--output", "by-command", "--json")
    made = isotrope.export("bundled", "torch", "by-function")
    said, own = ({**one.pop("parity"), **one} for one in (json.loads(done.out), made.as_dict()))
    assert said.keys() == own.keys()
    for key in said.keys() - {"path", "speed", "speed_before", "speed_up"}:
        assert said[key] == own[key], key


def test_report(run: Run, finished: str) -> None:
    done = run("report", finished, "--output", "by-command.html", "--texts", "20", "--json")
    found = isotrope.report(finished, texts=20)
    assert json.loads(done.out) == json.loads(json.dumps(found.as_dict()))
    assert Path("by-command.html").read_text() == found.html()


def test_push(run: Run, finished: str) -> None:
    done = run("push", finished, "org/name", "--dry-run", "by-command", "--tasks", "")
    made = isotrope.push(finished, "org/name", tasks=[], dry_run="by-function")
    listed = [line.strip() for line in done.out.splitlines() if line.startswith("    ")]
    assert listed == [str(file) for file in made.files]
    for file in listed:
        assert Path("by-command", file).read_bytes() == Path("by-function", file).read_bytes()


def test_reproduce_list(run: Run) -> None:
    printed = run("reproduce", "list").out
    assert all(one.name in printed for one in isotrope.reproductions())
