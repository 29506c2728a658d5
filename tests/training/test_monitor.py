from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import isotrope
from isotrope import recipes
from isotrope.evaluation.geometry import alignment, effective_rank, mean_cosine, uniformity
from isotrope.text import bundled_sentences
from isotrope.training.assemble import finished, make_learner
from isotrope.training.batches import laid_out
from isotrope.training.learner import Learner
from isotrope.training.monitor import Monitor, collapse, drops, evaluations_without_gain

TEXTS, OTHERS = bundled_sentences()[:6], bundled_sentences()[10:16]


def monitored(
    recipe: str, model: str, *, held_out: bool = True, score: Any = None, **settings: Any
) -> tuple[Learner, Monitor]:
    torch.manual_seed(0)
    stage = recipes.load(recipe, settings).stages[0]
    encoder = isotrope.load(model)
    learner = make_learner(stage, encoder, encoder).train()
    student = learner.student
    texts = dict.fromkeys(stage.columns, OTHERS) | {stage.columns[0]: TEXTS}
    batch = laid_out(stage, student, student, lambda encoder, view, column: encoder.tokenize(texts[column]))
    return learner, Monitor(batch, held_out, lambda: finished(student, encoder, stage), score)


def test_figures_are_those_of_the_students_vectors(small: str) -> None:
    learner, monitor = monitored("bsl", small)
    found = monitor.figures(learner)
    vectors = learner.student.encode(TEXTS)
    assert found["uniformity"] == pytest.approx(uniformity(vectors), abs=1e-5)
    assert found["effective_rank"] == pytest.approx(effective_rank(vectors), abs=1e-4)
    assert found["mean_cosine"] == pytest.approx(mean_cosine(vectors), abs=1e-5)
    with torch.no_grad():
        assert found["held_out_loss"] == float(learner.eval()(**monitor.batch)["loss"])
    assert "held_out_loss" not in Monitor(monitor.batch, False, monitor.evaluated).figures(learner)


def test_a_loss_against_a_queue_that_fills_up_is_not_compared_over_time(small: str) -> None:
    learner, monitor = monitored("simcse", small, **{"queue.size": 16})
    assert "held_out_loss" not in monitor.figures(learner)
    learner, monitor = monitored("simcse", small)
    assert "held_out_loss" in monitor.figures(learner)


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_a_development_score_is_computed_as_the_run_computes(precision: str, small: str) -> None:
    seen: list[str] = []
    score = lambda encoder: {"spearman": float(not seen.append(encoder.precision))}  # noqa: E731
    learner, monitor = monitored("simcse", small, score=score, **{"training.precision": precision})
    monitor.figures(learner)
    assert (seen, learner.student.precision) == ([precision], "float32")


def test_alignment_is_of_two_texts_where_there_are_two_and_else_of_what_dropout_makes_of_one(small: str) -> None:
    learner, monitor = monitored("bsl", small)
    apart = alignment(learner.student.encode(TEXTS), learner.student.encode(OTHERS))
    assert monitor.figures(learner)["alignment"] == pytest.approx(apart, rel=0.3)
    learner, monitor = monitored("sg-opt", small)
    assert 0 < monitor.figures(learner)["alignment"] < 0.5 * apart


@pytest.mark.parametrize("recipe", ["parallel", "parallel-dual"])
def test_alignment_is_of_translations_where_another_encoder_reads_them(recipe: str, small: str) -> None:
    """Paper 4, Figure 4 B: the student's vector of one language beside the source encoder's of the other."""
    settings = {"guide.model": small, "guide.model_pooling": "cls", "queue.size": 0, "training.dropout": 0.0}
    learner, monitor = monitored(recipe, small, **settings)
    apart = alignment(learner.student.eval().encode(TEXTS), learner.guide.reader.encode(OTHERS))
    assert monitor.figures(learner)["alignment"] == pytest.approx(apart, rel=0.3)


def test_alignment_is_of_the_views_where_there_is_no_dropout(small: str) -> None:
    learner, monitor = monitored("consert", small)
    assert monitor.figures(learner)["alignment"] > 0.001
    learner, monitor = monitored("consert", small, **{"views.first.kind": "none", "views.second.kind": "none"})
    assert monitor.figures(learner)["alignment"] == 0


def test_measuring_leaves_no_trace(small: str) -> None:
    learner, monitor = monitored("sg", small)  # draws layers, and dropout
    before, weights = torch.get_rng_state(), {key: value.clone() for key, value in learner.state_dict().items()}
    first = monitor.figures(learner)
    assert torch.equal(torch.get_rng_state(), before)
    assert learner.training
    assert not learner.guide.backbone.training
    torch.rand(7)
    assert monitor.figures(learner.eval()) == first  # whatever was drawn meanwhile
    assert not learner.training
    assert all(torch.equal(value, weights[key]) for key, value in learner.state_dict().items())


def test_the_score_is_of_the_encoder_as_it_would_be_saved(small: str) -> None:
    seen: list[isotrope.Encoder] = []
    learner, monitor = monitored("consert", small, score=lambda encoder: {"spearman": seen.append(encoder) or 12.5})
    assert monitor.figures(learner)["spearman"] == 12.5
    assert str(seen[0].pooling) == "last2"
    assert str(learner.student.pooling) == "mean"
    assert seen[0].backbone is learner.student.backbone


def test_vectors_that_are_no_numbers_have_no_figures_and_break_nothing(small: str) -> None:
    learner, monitor = monitored("sg-opt", small)
    with torch.no_grad():
        learner.student.backbone.model.encoder.layer[0].output.dense.bias.fill_(math.inf)
    assert math.isnan(monitor.figures(learner)["effective_rank"])
    assert math.isnan(monitor.figures(learner)["mean_cosine"])


@pytest.mark.parametrize(
    ("rank", "cosine", "words"),
    [
        (40, 0.5, None),
        (20, 0.5, None),
        (19.9, 0.5, "their effective rank fell from 40.0 to 19.9, most directions are no longer used"),
        (40, 0.96, "random sentences have a mean cosine of 0.960, so all look alike"),
        (1, 0.999, "random sentences have a mean cosine of 0.999, so all look alike"),
    ],
)
def test_a_collapse_is_told_in_words(rank: float, cosine: float, words: str | None) -> None:
    told = collapse({"effective_rank": rank, "mean_cosine": cosine}, {"effective_rank": 40, "mean_cosine": 0.6})
    assert told == (words and f"the vectors are collapsing: {words}")


def test_an_encoder_that_began_in_a_narrow_cone_is_not_blamed_for_it() -> None:
    first = {"effective_rank": 3.0, "mean_cosine": 0.97}
    assert collapse({"effective_rank": 3.1, "mean_cosine": 0.975}, first) is None
    assert collapse({"effective_rank": 3.1, "mean_cosine": 0.99}, first) is not None


def naive_evaluations_without_gain(scores: Sequence[float]) -> int:
    best, since = -math.inf, -1
    for score in scores:
        if since == -1 or score > best:
            best, since = (-math.inf if math.isnan(score) else score), 0
        else:
            since += 1
    return max(since, 0)


@given(st.lists(st.floats(0, 3, width=16) | st.just(math.nan), max_size=12))
def test_patience_counts_from_the_best(scores: list[float]) -> None:
    lines: list[Mapping[str, float]] = [{"step": 0, "eval_spearman": 99.0}]  # before the first step: not to be beaten
    for step, score in enumerate(scores, 1):
        lines += [{"step": step, "loss": 1.0}, {"step": step, "eval_spearman": score}]
    assert evaluations_without_gain(lines) == naive_evaluations_without_gain(scores)


def naive_drops(scores: Sequence[float]) -> int:
    """Word for word as in the published code of paper 1."""
    counted, last = 0, 0.0
    for score in scores:
        if score < last:
            counted += 1
        last = score
    return counted


@given(st.lists(st.floats(-1, 3, width=16) | st.just(math.nan), max_size=12))
def test_drops_count_each_fall_and_forgive_none(scores: list[float]) -> None:
    lines: list[Mapping[str, float]] = [{"step": 0, "eval_spearman": 99.0}]  # the first is held against 0, not this
    for step, score in enumerate(scores, 1):
        lines += [{"step": step, "loss": 1.0}, {"step": step, "eval_spearman": score}]
    assert drops(lines) == naive_drops(scores)


@pytest.mark.parametrize("count", [evaluations_without_gain, drops])
def test_patience_needs_a_score(count: Callable[[Sequence[Mapping[str, float]]], int]) -> None:
    assert count([]) == 0
    assert count([{"step": k, "eval_uniformity": -float(np.pi)} for k in range(5)]) == 0
