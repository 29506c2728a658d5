"""The judge of neighbourhoods against a naive twin, and on changes whose effect is known."""

from __future__ import annotations

import numpy as np
import pytest

from isotrope.evaluation.label_free.neighbourhoods import (
    KEPT,
    Shift,
    Together,
    compare_neighbourhoods,
    decide,
    neighbourhoods,
)
from isotrope.evaluation.label_free.reasons import kept_together
from isotrope.evaluation.label_free.verdict import MRRDifference

TEXTS = [f"{topic} number {i} {topic}ish" for topic in ("card", "loan", "cash", "bank") for i in range(30)]


def kinds(spread: float, seed: int = 0) -> np.ndarray:
    """Vectors of four kinds of texts, more or less mixed."""
    generator = np.random.default_rng(seed)
    return np.repeat(np.eye(4, 16), 30, axis=0) + spread * generator.normal(size=(120, 16))


def test_figures_are_those_of_the_docstring() -> None:
    vectors, alike = kinds(0.3), np.random.default_rng(1).uniform(size=(120, 120))
    found = neighbourhoods(vectors, alike)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines = unit @ unit.T - 9 * np.eye(120)
    nearest = [sorted(range(120), key=lambda j, i=i: -float(cosines[i, j]))[:10] for i in range(120)]
    for i, own in enumerate(nearest):
        assert sorted(found.nearest[i]) == sorted(own)
        shared = [len(set(own) & set(nearest[j])) / 10 for j in own]
        assert found.cohesion[i] == pytest.approx(np.mean(shared))
        assert found.words[i] == pytest.approx(np.mean([alike[i, j] for j in own]))


def test_noise_and_whitening_are_worse_and_denoising_is_better() -> None:
    base = kinds(0.12)
    noisy = compare_neighbourhoods(base, base + 0.1 * np.random.default_rng(5).normal(size=base.shape), TEXTS)
    assert noisy is not None
    assert noisy.judgement == "worse"
    smooth = base + 0.5 * np.repeat(base.reshape(4, 30, 16).mean(1), 30, axis=0)
    better = compare_neighbourhoods(base, smooth, TEXTS)
    assert better is not None
    assert better.cohesion.change > 0 > noisy.cohesion.change
    assert compare_neighbourhoods(base, base, TEXTS).judgement == "no clear difference"  # type: ignore[union-attr]


def test_too_few_texts_are_no_judgement() -> None:
    assert compare_neighbourhoods(kinds(0.1)[:50], kinds(0.1)[:50], TEXTS[:50]) is None


UP, DOWN, FLAT = Shift(40, 45, 4, 6), Shift(40, 35, -6, -4), Shift(40, 40, -1, 1)
APART_UP, APART_DOWN, APART_FAR_DOWN = (
    MRRDifference(5, 4, 6),
    MRRDifference(-5, -6, -4),
    MRRDifference(-15, -16, -14),
)


@pytest.mark.parametrize(
    ("cohesion", "words", "kept", "apart", "wanted"),
    [
        (UP, FLAT, 80, APART_UP, "better"),
        (UP, FLAT, 80, APART_DOWN, "better"),
        (UP, FLAT, 80, APART_FAR_DOWN, "no clear difference"),
        (UP, DOWN, 80, APART_UP, "no clear difference"),  # bought by forgetting: the words say so
        (UP, FLAT, KEPT - 1, APART_UP, "no clear difference"),
        (DOWN, UP, 80, APART_UP, "worse"),  # what plain contrast does to a narrow domain
        (FLAT, UP, 80, APART_UP, "no clear difference"),
        (UP, UP, 15, APART_UP, "no clear difference"),
        (DOWN, UP, 15, APART_UP, "worse"),  # however many neighbours went, one was made from the other
        (DOWN, UP, 50, APART_UP, "worse"),
    ],
)
def test_the_rule(cohesion: Shift, words: Shift, kept: float, apart: MRRDifference, wanted: str) -> None:
    assert decide(Together(cohesion, words, kept, 1000), [apart]) == wanted


@pytest.mark.parametrize(
    ("cohesion", "words", "kept", "wanted"),
    [
        (DOWN, UP, 60, "no clear difference"),  # what contrast does to a raw encoder, to its good
        (DOWN, FLAT, 60, "no clear difference"),
        (DOWN, DOWN, 60, "worse"),
        (UP, DOWN, 80, "no clear difference"),
        (UP, UP, 80, "better"),
        (UP, UP, KEPT - 1, "no clear difference"),
        (DOWN, UP, 15, "better"),  # neighbourhoods were nothing to keep: only the pairs tell
        (UP, DOWN, 15, "no clear difference"),  # unless the witness contradicts them
    ],
)
def test_where_all_texts_were_alike_falling_cohesion_needs_a_witness(
    cohesion: Shift, words: Shift, kept: float, wanted: str
) -> None:
    assert decide(Together(cohesion, words, kept, 1000, alike=True), [APART_UP]) == wanted


@pytest.mark.parametrize(
    ("cohesion", "words", "kept", "alike", "wanted"),
    [
        (UP, UP, 90, False, "no clear difference"),  # as it rose for one that had lost a point on labels
        (UP, UP, 15, False, "no clear difference"),
        (DOWN, UP, 15, False, "worse"),
        (DOWN, UP, 80, False, "worse"),
        (UP, UP, 80, True, "better"),
    ],
)
def test_a_sentence_encoder_that_was_trained_further_is_never_called_better(
    cohesion: Shift, words: Shift, kept: float, alike: bool, wanted: str
) -> None:
    together = Together(cohesion, words, kept, 1000, alike, "trained")
    assert decide(together, [APART_UP]) == wanted
    said = "Of an encoder that was trained further, a rise says nothing"
    assert (said in kept_together(together, together.judgement)) == (cohesion is UP and kept == 90)


@pytest.mark.parametrize(("kept", "wanted"), [(15, "better"), (90, "no clear difference")])
def test_of_encoders_that_show_nothing_the_pairs_tell_if_neighbours_differ(kept: float, wanted: str) -> None:
    assert decide(Together(UP, UP, kept, 1000, lineage="unknown"), [APART_UP]) == wanted


def test_whether_texts_were_alike_is_told_by_their_cosines() -> None:
    vectors = kinds(0.1)
    for shifted, alike in ((vectors, False), (vectors + 3 * np.abs(vectors).max(), True)):
        found = compare_neighbourhoods(shifted, vectors, TEXTS)
        assert found is not None
        assert found.alike == alike
