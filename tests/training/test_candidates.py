"""What `tune` tries."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from isotrope import recipes
from isotrope.io.errors import IsotropeError
from isotrope.training.candidates import GRADED, RAW, SENTENCE_ENCODER, check_candidates, default_candidates


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], "no candidate was given; leave out candidates="),
        (["smoth"], "unknown recipe 'smoth' (did you mean 'smooth'?)"),
        (["smooth:topic"], "recipe smooth has no variant 'topic' (did you mean 'topics'?)"),
        (["smooth", "consert", "smooth"], "candidate smooth: given twice"),
        (["bsl-post"], "candidate bsl-post reads pairs; candidates are compared on plain text"),
        (["sbert-nli"], "candidate sbert-nli reads labelled pairs"),
        ([{"name": "mine", "objective": {"temperature": -1}}], "objective.temperature"),
    ],
)
def test_what_can_not_be_compared_is_refused(given: list[Any], message: str) -> None:
    with pytest.raises(IsotropeError) as refused:
        check_candidates(given)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("raw", "graded", "wanted"),
    [
        (True, False, RAW),
        (True, True, RAW),
        (False, False, SENTENCE_ENCODER),
        (False, True, (*SENTENCE_ENCODER, *GRADED)),
    ],
)
def test_the_defaults_are_those_presets_that_there_are(raw: bool, graded: bool, wanted: tuple[str, ...]) -> None:
    known = recipes.names()
    found = default_candidates(raw=raw, graded=graded)
    assert [one.name for one in found] == [name for name in wanted if name.partition(":")[0] in known]
    assert len(found) == len(wanted)
    trains = [one.name for one in found if one.steps(1000)]
    assert bool(trains) == (raw or graded)  # without grades nobody can say whether more training helped a good encoder


def test_candidates_come_as_names_files_tables_and_recipes(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("[training]\nsteps = 3\n[variants.more]\ntraining.steps = 6\n")
    mine = str(tmp_path / "mine.toml")
    found = check_candidates(["smooth:topics", mine, f"{mine}:more", {"name": "a b"}, recipes.load("simcse:mean")])
    assert [one.folder for one in found] == ["smooth-topics", "mine", "mine-more", "a-b", "simcse-mean"]
    assert [one.name for one in found] == ["smooth:topics", mine, f"{mine}:more", "a b", "simcse:mean"]
    assert [one.steps(640) for one in found] == [0, 3, 6, 10, 40]


def test_steps_are_shared_by_the_stages() -> None:
    (one,) = check_candidates(["raw"])
    assert one.settings(30, 1000) == {"stages.0.training.steps": 30}
    two = {"name": "two", "stages": [{"training": {"steps": 100}}, {"training": {"steps": 300}}, {"fit": "smoothing"}]}
    two["stages"][2]["objective"] = "none"  # type: ignore[index]
    (several,) = check_candidates([two])
    assert several.steps(1000) == 400
    assert several.settings(40, 1000) == {"stages.0.training.steps": 10, "stages.1.training.steps": 30}
    assert several.settings(1, 1000) == {"stages.0.training.steps": 1, "stages.1.training.steps": 1}
    recipes.load(several.recipe, several.settings(40, 1000))


def test_what_they_cost_follows_what_they_read() -> None:
    smooth, gentle, guided = (
        one.contender(5000, per_text=0.01, judging=7.0)
        for one in check_candidates(
            ["smooth", "consert:gentle", {"name": "guided", "negatives": {"guided_by": "start", "margin": 0.1}}]
        )
    )
    assert (smooth.steps, smooth.fixed, smooth.step) == (0, 57.0, 0.0)
    assert (gentle.steps, gentle.fixed) == (40, 7.0)
    assert gentle.step == pytest.approx(3 * 2 * 96 * 0.01)
    assert guided.fixed > 50
