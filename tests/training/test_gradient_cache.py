"""Gradient caching changes memory only: loss, gradients and what is remembered are those of the batch at once."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from isotrope import recipes
from isotrope.encoders import pieces
from isotrope.io.errors import IsotropeError

from .loops import Make, lines, same, student
from .test_processes import OBJECTIVES, step


@pytest.mark.parametrize("name", ["nt_xent", "opt3", "bootstrap", "info_nce", "guided", "ranking"])
def test_every_objective(name: str, small: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = step(name, small, tmp_path / "plain", 0, 1)
    recipe, settings = OBJECTIVES[name]
    monkeypatch.setitem(OBJECTIVES, name, (recipe, settings | {"training.gradient_cache": 2}))
    calls: list[int] = []
    again = pieces._checkpointed
    monkeypatch.setattr(pieces, "_checkpointed", lambda *given: calls.append(1) or again(*given))
    cached = step(name, small, tmp_path / "cached", 0, 1)
    assert len(calls) > 1
    assert float(cached[0]) == pytest.approx(float(plain[0]), abs=1e-9)
    for mine, theirs in zip(cached[1:], plain[1:], strict=True):
        assert mine.keys() == theirs.keys()
        for key, value in mine.items():
            assert torch.allclose(value.double(), theirs[key].double(), atol=1e-9), key


def test_views_drawn_at_random_are_those_of_the_batch_at_once(make: Make) -> None:
    runs = [make("consert", folder=str(most), gradient_cache=most, learning_rate=1e-3) for most in (None, 3)]
    for loop in runs:
        loop.run()
    whole, cached = ([line["loss"] for line in lines(loop) if "loss" in line] for loop in runs)
    assert cached == pytest.approx(whole, rel=1e-4)


def test_under_dropout_a_resumed_run_ends_as_the_whole_one(make: Make) -> None:
    settings = {"gradient_cache": 2, "save_steps": 2, "eval_steps": 4}
    whole = make("simcse", folder="whole", **settings)
    whole.run()
    half = make("simcse", folder="half", **settings)
    half.should_stop = lambda evaluations: half.step == 2
    half.run()
    rest = make("simcse", folder="half", **settings)
    rest.run(resume=True)
    assert same(student(rest), student(whole))


@pytest.mark.parametrize(
    ("recipe", "settings", "words"),
    [
        ("mlm", {}, "makes none; leave it out"),
        ("simcse", {"training.gradient_checkpointing": True}, "leave out gradient_checkpointing"),
    ],
)
def test_where_it_has_no_effect_it_is_refused(recipe: str, settings: dict[str, object], words: str) -> None:
    with pytest.raises(IsotropeError, match=words):
        recipes.load(recipe, {"training.gradient_cache": 8, **settings})
