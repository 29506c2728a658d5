"""Several recipes within a budget, and one encoder in the end."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from sentence_transformers import SentenceTransformer

import isotrope
from isotrope.evaluation.models import open_model
from isotrope.evaluation.provenance import training_text
from isotrope.io.errors import IsotropeError
from isotrope.text import bundled_sentences, read_sentences
from isotrope.training.automatic import Outcome
from isotrope.training.leaderboard import NO_TIME, Figures, Trial, Tuning, ranked
from isotrope.training.tuning import tune
from isotrope.training.tuning_progress import Progress

pytestmark = pytest.mark.xdist_group("killed")

TEXTS = bundled_sentences()[:260]


def tiny(name: str, rate: float = 1e-4, **training: Any) -> dict[str, Any]:
    """A recipe that takes four steps."""
    numbers = {"steps": 4, "batch_size": 8, "learning_rate": rate, "eval_steps": 4, "save_steps": 2} | training
    return {"name": name, "pooling": {"training": "mean", "evaluation": "mean"}, "training": numbers}


CANDIDATES = ["smooth:topics", tiny("a"), tiny("b", 5e-3)]


def findings(found: isotrope.Tuning) -> list[Any]:
    """The leaderboard, but for the seconds."""
    rows = [{key: value for key, value in one.as_dict().items() if key != "seconds"} for one in found.trials]
    return [rows, found.outcome, found.beside]


@pytest.fixture(scope="module")
def whole(small: str, tmp_path_factory: pytest.TempPathFactory) -> isotrope.Tuning:
    return tune(TEXTS, small, tmp_path_factory.mktemp("tuned") / "whole", budget="9h", candidates=CANDIDATES)


def test_the_better_half_goes_on_and_one_encoder_is_kept(whole: isotrope.Tuning, small: str) -> None:
    tried = {(one.recipe, one.rung, one.steps) for one in whole.trials}
    assert {("smooth:topics", 0, 0), ("a", 0, 2), ("b", 0, 2)} < tried
    assert len(tried) == 4
    assert {steps for _, rung, steps in tried if rung == 1} == {4}
    assert [one.folder for one in whole.trials if one.rung == 1] in (["trials/a-2"], ["trials/b-2"])
    for one in whole.trials:
        assert (whole.folder / one.folder / "run.json").is_file()
    best = whole.best.folder if whole.best else None
    kept = SentenceTransformer(str(whole.folder / "encoder"), device="cpu").encode(TEXTS[:4])
    wanted = isotrope.load(whole.folder / best / "encoder" if best else small)
    np.testing.assert_allclose(kept, wanted.encode(TEXTS[:4]), atol=1e-5)
    assert Outcome.read(whole.folder) == whole.outcome
    assert 0 < sum(one.seconds for one in whole.trials) < whole.seconds


def test_nobody_learns_from_the_text_that_all_are_judged_on(whole: isotrope.Tuning) -> None:
    learnt = set(read_sentences(whole.folder / "text.parquet"))
    assert learnt < set(TEXTS)
    assert len(set(TEXTS) - learnt) >= 100
    for one in whole.trials:
        rows = json.loads((whole.folder / one.folder / "corpus" / "corpus.json").read_text())["counts"]["rows"]
        assert rows == len(learnt)


def test_the_folder_is_that_of_a_run_to_other_commands(whole: isotrope.Tuning, small: str) -> None:
    np.testing.assert_allclose(open_model(whole.folder).encode(TEXTS[:2]), whole.encode(TEXTS[:2]), atol=1e-5)
    assert training_text(whole.folder) == [whole.folder / "corpus"]
    with pytest.raises(IsotropeError, match="settings differ from the original run"):
        isotrope.train(TEXTS, "simcse", small, whole.folder, resume=True)


def test_the_leaderboard_in_words(whole: isotrope.Tuning) -> None:
    said = str(whole)
    for word in ("Recipe", "Kept together", "Told apart", "Neighbours kept", "Judgement", "smooth:topics"):
        assert word in said
    assert whole.conclusion in said
    assert json.loads(whole.json()) == whole.as_dict()


def test_killed_between_trials_and_resumed_it_finds_the_same(
    whole: isotrope.Tuning, small: str, killed: Callable[..., bool], tmp_path: Path
) -> None:
    folder = tmp_path / "resumed"
    arguments: dict[str, Any] = {"budget": "9h", "candidates": CANDIDATES}

    def when() -> bool:
        return (folder / "trials").is_dir() and len(list((folder / "trials").iterdir())) == 3

    assert killed(when, tune, TEXTS, small, folder, **arguments)
    before = json.loads((folder / "tuning.json").read_text())
    assert 1 <= len(before["trials"]) <= 3
    with pytest.raises(IsotropeError, match=r"settings differ from the original run: budget 32400\.0 -> 60\.0"):
        tune(TEXTS, small, folder, budget="1m", candidates=CANDIDATES, resume=True)
    with pytest.raises(IsotropeError, match="the text is not that of the original run"):
        tune(TEXTS[1:], small, folder, resume=True, **arguments)
    resumed = tune(TEXTS, small, folder, resume=True, **arguments)
    assert findings(resumed) == findings(whole)
    assert resumed.seconds > before["spent"]
    found, wanted = (load_file(one.folder / "encoder" / "model.safetensors") for one in (resumed, whole))
    assert all(torch.equal(found[key], wanted[key]) for key in wanted)
    again = tune(TEXTS, small, folder, resume=True, **arguments)
    assert findings(again) == findings(whole)


def test_a_trial_that_is_damaged_begins_anew_and_is_not_lost_to_the_choice(
    whole: isotrope.Tuning, small: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = shutil.copytree(whole.folder, tmp_path / "run")
    shutil.rmtree(folder / "encoder")
    tuning = json.loads((folder / "tuning.json").read_text())
    last = tuning["trials"].pop()
    (folder / "tuning.json").write_text(json.dumps(tuning | {"beside": None}))
    (folder / last["folder"] / "corpus" / "corpus.json").write_text("{")
    (folder / "text.parquet").write_bytes(b"PAR1")
    found = tune(TEXTS, small, folder, budget="9h", candidates=CANDIDATES, resume=True)
    assert findings(found) == findings(whole)
    assert f"{last['recipe']} starts again: " in capfd.readouterr().err


@pytest.mark.parametrize(
    "change",
    [
        lambda values: "",
        lambda values: json.dumps(values)[:-9],
        lambda values: "[]",
        lambda values: json.dumps({"rungs": []}),
        lambda values: json.dumps(values | {"spent": "long"}),
        lambda values: json.dumps(values | {"trials": [values["trials"][0] | {"outcome": {"kept": "both"}}]}),
    ],
)
def test_damaged_progress_is_one_line(whole: isotrope.Tuning, tmp_path: Path, change: Callable[[Any], str]) -> None:
    text = (whole.folder / "tuning.json").read_text()
    (tmp_path / "tuning.json").write_text(text)
    assert Progress.open(tmp_path).trials == Progress.open(whole.folder).trials != ()
    (tmp_path / "tuning.json").write_text(change(json.loads(text)))
    with pytest.raises(
        IsotropeError, match=r"tuning.json is damaged \(not the JSON that was written\); the run can't be"
    ):
        Progress.open(tmp_path)


def test_the_budget_decides_how_far_it_goes(small: str, tmp_path: Path) -> None:
    endless = tiny("endless", steps=1_000_000, save_steps=10_000, eval_steps=10_000)
    found = tune(TEXTS, small, tmp_path / "run", budget=6, candidates=[endless])
    assert 5 <= found.trials[0].steps < 10_000
    with pytest.raises(IsotropeError, match=r"a budget of 0\.001 s is too small: the quickest .* needs about"):
        tune(TEXTS, small, tmp_path / "short", budget=0.001, candidates=CANDIDATES)
    assert not (tmp_path / "short").exists()


def test_a_candidate_that_fails_does_not_stop_the_others(small: str, tmp_path: Path) -> None:
    large = tiny("large", batch_size=1000)
    found = tune(TEXTS, small, tmp_path / "run", budget="9h", candidates=[large, "smooth"])
    assert [one.recipe for one in found.trials] == ["smooth", "large"]
    assert "batch_size is 1000" in found.trials[1].judgement
    with pytest.raises(IsotropeError, match=r"no candidate could be tried; large: failed: .* batch_size is 1000"):
        tune(TEXTS, small, tmp_path / "none", budget="9h", candidates=[large])


def test_a_development_set_decides_where_there_is_one(small: str, tmp_path: Path) -> None:
    found = tune(TEXTS[:60], small, tmp_path / "run", budget="9h", candidates=["smooth"], dev="bundled")
    (one,) = found.trials
    assert one.dev is not None
    assert found.outcome.kept == ("tuned" if one.dev["after"] > one.dev["before"] else "untuned")
    assert f"{one.dev['before']:.2f} -> {one.dev['after']:.2f}" in str(found)
    assert one.figures is None  # sixty texts are too few for the judge
    nothing = replace(found, outcome=replace(found.outcome, kept="untuned"))
    assert nothing.conclusion.endswith("More text may help, or more graded pairs.")
    without = replace(nothing, trials=[replace(one, dev=None)])
    assert without.conclusion.endswith("or a development set of a hundred pairs that you graded yourself.")


def test_mistakes_are_found_before_the_text_is_read(tmp_path: Path) -> None:
    for arguments, message in (
        ({"candidates": ["smoth"]}, "unknown recipe 'smoth'"),
        ({"budget": "soon"}, "'soon' is not a duration"),
        ({"unit": "page"}, "unknown unit 'page'"),
        ({"purpose": "fun"}, "unknown purpose 'fun'; one of topics, duplicates, both"),
        ({"resume": True}, "nothing to resume"),
    ):
        with pytest.raises(IsotropeError, match=message):
            tune(tmp_path / "none.txt", output=tmp_path / "run", **arguments)  # type: ignore[arg-type]
        assert not (tmp_path / "run").exists()
    with pytest.raises(IsotropeError, match=r"too little text to judge by: .* of 90 texts .* 100 are needed"):
        tune(TEXTS[:90], output=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_the_order_of_the_leaderboard() -> None:
    def trial(name: str, judgement: str, kept: Any, merit: float, steps: int = 1, problem: str = "") -> Trial:
        figures = Figures(judgement, judgement, judgement, 1.0, 0.0, 90.0, 0.0)
        return Trial(name, 0, name, steps, 1.0, figures, None, Outcome(kept, ""), merit, problem)

    given = [
        trial("failed", "", "untuned", 9.0, problem=NO_TIME),
        trial("worse", "worse", "untuned", 9.0),
        trial("unclear", "no clear difference", "untuned", 1.0),
        trial("longer", "better", "tuned", 3.0, steps=8),
        trial("shorter", "better", "tuned", 3.0, steps=4),
        trial("better", "better", "tuned", 5.0),
    ]
    names = [one.recipe for one in ranked(given)]
    assert names == ["better", "shorter", "longer", "unclear", "worse", "failed"]
    assert given[0].judgement == NO_TIME


def test_each_change_stands_beside_its_own_judgement() -> None:
    apart = {"pairs_told_apart": "no clear difference", "details": -2.0, "details_told_apart": "worse"}
    figures = Figures("better", "better", "worse", 2.0, 0.0, 90.0, 0.6, **apart)
    outcome = Outcome("tuned", "It is better.", "Mind the details.")
    trial = Trial("smooth", 0, "smooth", 0, 1.0, figures, None, outcome, 1.0)
    found = Tuning(Path("run"), isotrope.load(), "small", [trial], outcome, "", 60.0, 1.0)
    shown = str(found)
    for cell in ("+2.0, better", "+0.6, unclear", "-2.0, worse", "Mind the details."):
        assert cell in shown


def test_merit_depends_on_the_purpose() -> None:
    found = Figures("better", "better", "no clear difference", 5.0, 0.5, 70.0, -1.0)
    assert {purpose: found.merit(purpose, raw=False) for purpose in ("topics", "duplicates", "both")} == {  # type: ignore[arg-type]
        "topics": 5.0,
        "duplicates": -11.0,
        "both": -5.0,
    }
    assert found.merit("both", raw=True) == 0.5
