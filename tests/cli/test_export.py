from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import isotrope
from isotrope.text import bundled_sentences

Run = Callable[..., Any]


def test_the_report_is_printed_and_kept(run: Run) -> None:
    sentences = "x.txt"
    Path(sentences).write_text("\n".join(bundled_sentences()[:40]))
    done = run("export", "bundled", "--format", "static", "--dim", "16", "--text", sentences, "--output", "m", "--json")
    assert (done.code, done.err) == (0, "")
    told = json.loads(done.out)
    assert (told["format"], told["dim"]) == ("static", 16)
    assert json.loads(Path("m/export.json").read_text())["parity"] == told["parity"]
    assert run("encode", sentences, "--model", "m", "--output", "x.npy").code == 0
    assert np.abs(np.load("x.npy") - isotrope.encode(sentences, "m")).max() < 1e-6


def test_mistakes_are_one_line(run: Run) -> None:
    Path("there").mkdir()
    done = run("export", "bundled", "--output", "there")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "there: exists already; choose another folder, or replace it with --force" in done.err
    done = run("export", "bundled", "--format", "torch", "--dim", "64", "--output", "m")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "give it with --text" in done.err
