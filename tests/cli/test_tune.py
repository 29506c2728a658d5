from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import isotrope
from isotrope.text import bundled_sentences

Run = Callable[..., Any]
TEXTS = bundled_sentences()[:230]
BAD = {
    "unknown recipe 'smoth' (did you mean 'smooth'?)": ("--candidates", "smooth,smoth"),
    "recipe smooth has no variant 'topic' (did you mean 'topics'?)": ("--candidates", "smooth:topic"),
    "candidate sbert-nli reads labelled pairs; candidates are compared on plain text": ("--candidates", "sbert-nli"),
    "no candidate was given; leave out --candidates": ("--candidates", ","),
    "'soon' is not a duration; write 90s, 20m or 1h30m": ("--budget", "soon"),
    "a budget of 0.001 s is too small: the quickest candidate, smooth, needs about": (
        *("--budget", "0.001", "--candidates", "smooth"),
    ),
    "run: nothing to resume (no run.json in it)": ("--resume",),
    "none.txt: no such file": ("none.txt",),
    "unknown task 'stbs' (did you mean 'stsb'?)": ("--dev", "stbs"),
}


@pytest.fixture
def text(run: Run) -> Path:
    Path("text.txt").write_text("\n".join(TEXTS))
    return Path("text.txt")


@pytest.mark.parametrize("message", BAD)
def test_mistakes_are_one_line_and_leave_nothing(run: Run, text: Path, message: str) -> None:
    done = run("tune", "text.txt", "--output", "run", *BAD[message])
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert sum(line.startswith("Error") for line in done.err.splitlines()) == 1
    assert not Path("run").exists()


def test_the_command_finds_what_the_function_finds(run: Run, text: Path) -> None:
    small = str(isotrope.load(pooling="mean@1").save("small"))
    command = ("tune", "text.txt", "--output", "run", "--model", small, "--candidates", "smooth, smooth:topics")
    done = run(*command, "--budget", "9h", "--for", "topics", "--json")
    assert done.code == 0
    assert [line[:13] for line in done.err.splitlines() if line.startswith("read ")] == ["read 230 rows"]  # once
    found = json.loads(done.out)
    same = isotrope.tune(
        text, small, "again", budget="9h", purpose="topics", candidates=["smooth", "smooth:topics"]
    ).as_dict()
    for one in (*found["trials"], *same["trials"]):
        one.pop("seconds")
    assert found["trials"] == same["trials"]
    same["outcome"]["advice"] = same["outcome"]["advice"].replace("dev=", "--dev")
    assert (found["kept"], found["outcome"]) == (same["kept"], same["outcome"])
    shown = run(*command, "--budget", "9h", "--for", "topics", "--resume")
    assert found["conclusion"] in shown.out
    assert "Neighbours kept" in shown.out
    assert str(Path("run", "encoder")) in shown.out
