"""What `train` without a recipe says in the end: which encoder is kept, why, and what to do if that is not enough."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from isotrope.text import bundled_sentences
from isotrope.training.automatic import DETAILS, MORE


@pytest.mark.parametrize(
    ("model", "options", "kept", "advice"),
    [
        ("bundled", ("--steps", "1"), "The tuned encoder was kept.", []),
        ("small", (), "The untuned encoder was kept; the tuned one is in run/tried.", [MORE.format(dev="--dev")]),
    ],
)
def test_the_outcome_comes_with_advice(
    run: Callable[..., Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    model: str,
    options: tuple[str, ...],
    kept: str,
    advice: list[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("text.txt").write_text("\n".join(bundled_sentences()[:40]))
    done = run("train", "text.txt", "--model", model, "--output", "run", "--no-report", *options)
    assert kept in done.out.splitlines()
    known = [text.format(dev="--dev", purpose="--for duplicates") for text in (DETAILS, MORE)]
    assert [line for line in done.out.splitlines() if line in known] == advice
