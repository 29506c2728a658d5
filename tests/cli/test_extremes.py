"""Numbers and names beyond all measure are one line, exit code 2, and no run is left behind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

LONG = "a" * 5000
DEEP = "a" + ".a" * 5000
LISTS = "[" * 5000 + "]" * 5000


def settings(*texts: str) -> tuple[str, ...]:
    return tuple(word for text in texts for word in ("--set", text))


EXTREME: dict[str, tuple[str, ...]] = {
    "training.betas: 1.5 given; it should be less than 1": settings("training.betas=[1.5, 0.9]"),
    "training.betas: -1 given; it should be greater than or equal to 0": settings("training.betas=[0.9, -1]"),
    "training.seed: 8589934592 given; it should be less than or equal to 4294967295": ("--seed", "8589934592"),
    "unknown tracker 'nope'; choose from": settings('training.report_to="nope"'),
    "heads.projection.ratio: 1000000000.0 given": ("--recipe", "sg-opt", *settings("heads.projection.ratio=1e9")),
    "more than 16 deep; a recipe has a few": settings(f"{DEEP}=1"),
    "it should be a valid integer": settings(f"training.batch_size={LISTS}"),
    "training.batch_size: Unable to parse input string as an integer": settings(f"training.batch_size={'9' * 5000}"),
    "digits.toml: a number in it has thousands of digits": ("--recipe", "digits.toml"),
    "deep.toml: sections or lists are more than 16 deep": ("--recipe", "deep.toml"),
    "lists.toml: sections or lists are more than 16 deep": ("--recipe", "lists.toml"),
    "batch_size is 1000000000000000000000000000000: give more text": settings(f"training.batch_size={10**30}"),
    "out of memory; use smaller batches": settings(f"queue.size={10**12}"),
    "queue.size: 1000000000000000000000000000000 given": settings(f"queue.size={10**30}"),
    "objective.weight: 0 given; it should be greater than 0": settings("objective.weight=0"),
    "objective.weight: -1 given; it should be greater than 0": settings("objective.weight=-1"),
    "aaa.txt: can't be read (File name too long)": (f"{LONG}.txt",),
    "aaa.toml: can't be read (File name too long)": ("--recipe", f"{LONG}.toml"),
    "aaa (File name too long)": ("--model", LONG),
    "unknown recipe 'aaaa": ("--recipe", LONG),
    "aaa.tsv (File name too long)": ("--dev", f"{LONG}.tsv"),
    "the score '1_0' is not a number": ("--dev", "scores.tsv"),
}


@pytest.mark.parametrize("message", EXTREME)
def test_an_extreme_setting_is_one_line(run: Run, message: str) -> None:
    Path("text.txt").write_text("".join(f"Sentence number {k}.\n" for k in range(20)))
    Path("scores.tsv").write_text("score\tsentence1\tsentence2\n1_0\tA dog.\tA cat.\n2\tA dog.\tA bird.\n")
    Path("digits.toml").write_text(f"[training]\nbatch_size = {'9' * 5000}\n")
    Path("deep.toml").write_text(f"[{DEEP}]\nb = 1\n")
    Path("lists.toml").write_text(f"x = {LISTS}\n")
    command = ("train", "text.txt", "--output", "run", "--recipe", "simcse", *settings("training.batch_size=4"))
    before = set(Path().iterdir())
    done = run(*command, "--steps", "1", *EXTREME[message])
    assert (done.code, done.out) == (2, "")
    *notes, error = done.err.splitlines()
    assert error.startswith("Error: ")
    assert len(error) < 520
    assert message in error
    assert all("not split into" in note for note in notes)  # the text had been read where that is what it is about
    assert set(Path().iterdir()) == before


OTHERS: dict[str, tuple[str, ...]] = {
    "a seed is a whole number from 0": ("compare", "bundled", "bundled", "text.txt", "--seed", str(2**64)),
    "seed 4294967296: a seed is": ("pretrain", "text.txt", "--output", "run", "--seed", str(2**32)),
    "seed 18446744073709551616: ": ("inspect", "bundled", "text.txt", "--seed", str(2**64)),
    "less than or equal to 4294967295": ("baseline", "ct", "text.txt", "-o", "run", "--seed", str(2**32)),
    "there is no device 'meta' on this machine": ("encode", "text.txt", "-o", "run.npy", "--device", "meta"),
    "aaa (File name too long)": ("evaluate", LONG),
    "aaa.npy: can't be written (File name too long)": ("encode", "text.txt", "--output", f"{LONG}.npy"),
}


@pytest.mark.parametrize("message", OTHERS)
def test_so_it_is_for_other_verbs(run: Run, message: str) -> None:
    Path("text.txt").write_text("".join(f"Sentence number {k}.\n" for k in range(20)))
    done = run(*OTHERS[message])
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert message in done.err
    assert [path.name for path in Path().iterdir()] == ["text.txt"]


def test_a_batch_of_any_size_is_the_whole_text(run: Run) -> None:
    Path("text.txt").write_text("A dog.\nA cat.\n")
    assert run("encode", "text.txt", "--output", "x.npy", "--model", "bundled", "--batch-size", str(10**30)).code == 0
