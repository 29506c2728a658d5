"""`train` without a recipe: what it tries, and that it keeps only what is better."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import torch

import isotrope
from isotrope.evaluation.geometry import mean_cosine
from isotrope.evaluation.label_free.comparison import Comparison
from isotrope.evaluation.label_free.neighbourhoods import Shift, Together
from isotrope.evaluation.label_free.verdict import MRRDifference
from isotrope.io.errors import IsotropeError
from isotrope.text import bundled_sentences
from isotrope.training.automatic import DETAILS, MORE, UNJUDGED, Outcome, decide, is_raw, recipe_for

UP, DOWN, FLAT = Shift(40, 45, 4, 6), Shift(40, 35, -6, -4), Shift(40, 40, -1, 1)
APART = {"halves": MRRDifference(5, 4, 6)}
NONE: Any = None
TEXTS = [text for text in bundled_sentences() if len(text) < 60]
ADVICE = MORE.format(dev="dev=")  # as Python types it


class Ranks:
    pairs, mrr = 100, 0.5


class Figures:
    ranks: ClassVar[dict[str, Ranks]] = {"halves": Ranks()}


def compared(cohesion: Shift, words: Shift, kept: float = 80, apart: dict[str, MRRDifference] = APART) -> Comparison:
    figures: Any = Figures()
    return Comparison(figures, figures, apart, [], [], Together(cohesion, words, kept, 1000))


def test_what_an_encoder_is_like_decides(minilm: isotrope.Encoder) -> None:
    raw = isotrope.load("bundled")
    assert is_raw(raw)
    assert not is_raw(minilm)
    assert (recipe_for(raw, "both"), recipe_for(minilm, "topics")) == ("raw", "smooth:topics")


def test_a_sentence_encoder_in_a_narrow_cone_is_none_that_was_pre_trained_only(minilm: isotrope.Encoder) -> None:
    """Contrast, which suits a raw encoder, costs a sentence encoder points, whatever all its vectors have in common."""
    alike = copy.deepcopy(minilm).with_after_pooling([])
    bias = alike.backbone.model.encoder.layer[-1].output.LayerNorm.bias
    common = torch.randn(bias.shape, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        bias.add_(common, alpha=0.5)
    assert float(mean_cosine(alike.encode(TEXTS))) > 0.6
    assert not is_raw(alike)


def test_little_text_is_not_believed_about_a_sentence_encoder() -> None:
    assert decide(None, compared(UP, FLAT), "both", raw=False, enough=False) == Outcome("untuned", UNJUDGED, ADVICE)
    assert decide(None, compared(UP, FLAT), "both", raw=True, enough=False).kept == "tuned"
    assert decide({"before": 1.0, "after": 2.0}, None, "both", raw=False, enough=False).kept == "tuned"


def test_only_what_is_better_is_kept() -> None:
    assert decide(None, compared(UP, FLAT), "both", raw=False).kept == "tuned"
    for worse in (compared(FLAT, UP), compared(DOWN, UP), compared(UP, DOWN), compared(UP, FLAT, kept=50)):
        assert decide(None, worse, "both", raw=False).kept == "untuned"
    assert decide(None, None, "both", raw=False).kept == "untuned"


def test_advice_is_given_where_it_is_of_use() -> None:
    """What draws neighbours together may cost details; who asked for topics, or lost none, need not be told."""
    costs = replace(compared(UP, FLAT), details=Shift(90, 88, -3, -1))
    assert decide(None, costs, "both", raw=False).advice == DETAILS.format(dev="dev=", purpose="purpose='duplicates'")
    for found, purpose in ((costs, "topics"), (replace(costs, details=Shift(90, 94, 3, 5)), "both")):
        assert decide(None, found, purpose, raw=True).advice == ""
    assert decide(None, compared(DOWN, UP), "both", raw=False).advice == ADVICE
    assert decide({"before": 70.0, "after": 60.0}, None, "both", raw=False).advice == ""


def test_a_raw_encoder_is_judged_by_the_words_of_its_neighbours() -> None:
    kept = decide(None, compared(DOWN, UP, kept=50), "both", raw=True)
    assert kept.kept == "tuned"
    assert "Word similarity of neighbours: better" in kept.because
    assert "kept together" not in kept.because  # which would say worse of what is kept
    assert decide(None, compared(UP, DOWN), "both", raw=True).kept == "untuned"
    assert decide(None, None, "both", raw=True).kept == "tuned"


def test_for_duplicates_they_must_be_told_apart_better() -> None:
    assert decide(None, compared(FLAT, FLAT), "duplicates", raw=False).kept == "tuned"
    assert decide(None, compared(UP, FLAT, apart={}), "duplicates", raw=False).kept == "untuned"
    assert decide(None, compared(DOWN, UP), "duplicates", raw=False).kept == "untuned"
    trained = compared(FLAT, FLAT)
    trained = replace(trained, together=replace(trained.together, lineage="trained"))  # contrast always does that
    assert decide(None, trained, "duplicates", raw=False).kept == "untuned"


@pytest.mark.parametrize(("after", "kept"), [(80.1, "tuned"), (79.9, "untuned")])
def test_grades_of_people_outweigh_the_judge(after: float, kept: str) -> None:
    found = decide({"before": 80.0, "after": after}, compared(DOWN, DOWN), "both", raw=False)
    assert (found.kept, found.because) == (
        kept,
        f"Spearman x 100 on the development set: 80.00 before, {after:.2f} after",
    )


def test_too_little_text_keeps_a_sentence_encoder_as_it_was(minilm: isotrope.Encoder, tmp_path: Path) -> None:
    run = isotrope.train(TEXTS[:80], model=minilm, output=tmp_path / "run")
    assert run.outcome is not None
    assert (run.outcome.kept, run.steps, run.recipe.name) == ("untuned", 0, "smooth")
    text = TEXTS[:5]
    np.testing.assert_allclose(run.encode(text), minilm.encode(text), atol=1e-6)
    tried = isotrope.load(tmp_path / "run" / "tried")
    assert np.abs(tried.encode(text) - minilm.encode(text)).max() > 1e-4
    again = isotrope.train(TEXTS[:80], model=minilm, output=tmp_path / "run", resume=True)
    assert again.outcome == run.outcome
    assert json.loads((tmp_path / "run" / "outcome.json").read_text())["kept"] == "untuned"


@pytest.mark.parametrize("text", ["", "[]", '{"kept": "tu', '{"x": 1}', '{"kept": "both", "because": "x"}'])
def test_a_damaged_outcome_is_one_line(text: str, tmp_path: Path) -> None:
    Outcome("tuned", "It is better.").write(tmp_path)
    assert Outcome.read(tmp_path) == Outcome("tuned", "It is better.")
    (tmp_path / "outcome.json").write_text(text)
    with pytest.raises(
        IsotropeError, match=r"outcome.json is damaged \(not the JSON that was written\); the run can't be"
    ):
        Outcome.read(tmp_path)


def test_enough_text_is_judged(small: str, tmp_path: Path) -> None:
    text = [f"{first} {second}" for first in TEXTS[:40] for second in TEXTS[40:70]]
    run = isotrope.train(text, model=small, output=tmp_path / "run", steps=1, set={"training.batch_size": 4})
    assert run.outcome is not None
    assert run.recipe.full_name == "raw:paper"
    assert "Word similarity of neighbours" in run.outcome.because
    assert run.outcome.kept == ("tuned" if (tmp_path / "run" / "tried").exists() is False else "untuned")


@pytest.mark.parametrize("kept", ["tuned", "untuned"])
def test_the_verdict_is_of_the_tuned_encoder_whether_it_is_kept_or_not(kept: Any, small: str, tmp_path: Path) -> None:
    text = [f"{first} {second}" for first in TEXTS[:40] for second in TEXTS[40:70]]
    run = isotrope.train(text, "smooth", small, tmp_path / "run")
    tuned = run.verdict
    assert tuned is not None
    if kept == "untuned":  # as a run without a recipe does
        (tmp_path / "run" / "encoder").rename(tmp_path / "run" / "tried")
        Outcome("untuned", "It is not better.").write(tmp_path / "run")
        run = replace(run, encoder=isotrope.load(small, pooling="mean"))
    assert run.verdict is not None
    assert run.verdict.together is not None
    assert run.verdict.together.kept < 100
    assert run.verdict.together == tuned.together


def test_repeated_texts_do_not_count_as_text_to_judge_by(small: str, tmp_path: Path) -> None:
    text = [f"{first} {second}" for first in TEXTS[:30] for second in TEXTS[40:70]]  # 900 different ones
    run = isotrope.train([*text, *text], "smooth", small, tmp_path / "run")
    assert run.verdict is None
    more = [f"{first} {second}" for first in TEXTS[:34] for second in TEXTS[40:70]]
    judged = isotrope.train([*more, *more], "smooth", small, tmp_path / "more").verdict
    assert judged is not None
    assert judged.together is not None
    assert judged.together.texts >= 100


def test_a_purpose_needs_no_recipe_beside_it(tmp_path: Path) -> None:
    with pytest.raises(IsotropeError, match="purpose= is for runs without a recipe"):
        isotrope.train(TEXTS, "simcse", purpose="topics", output=tmp_path / "run")
