"""`isotrope sweep` on the command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import isotrope
from isotrope.text import bundled_sentences

SHORT = {"training.steps": 1, "training.batch_size": 4}


def test_the_command_finds_what_the_function_finds(run: Callable[..., Any], tiny: str) -> None:
    Path("text.txt").write_text("\n".join(bundled_sentences()[:24]) + "\n")
    chosen = [f"--set={key}={value}" for key, value in SHORT.items()]
    grid = "--grid=training.learning_rate=1e-5,1e-3"
    chosen += ["--model", tiny, "--seeds=1", "--tasks=bundled", "-o", "out", "--json"]
    done = run("sweep", "simcse", "text.txt", grid, *chosen)
    assert done.code == 0, done.err
    again = isotrope.sweep(
        "simcse",
        "text.txt",
        {"training.learning_rate": [1e-5, 1e-3]},
        model=tiny,
        seeds=1,
        tasks=["bundled"],
        set=SHORT,
        output="out",
    )
    assert done.out == again.json()
    bad = run("sweep", "simcse", "text.txt", "--grid=training.learning_rate", "--tasks=bundled")
    assert (bad.code, bad.out) == (2, "")
    assert "write KEY=A,B,C" in bad.err
