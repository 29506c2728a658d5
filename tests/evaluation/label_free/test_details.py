"""Texts with words missing, and what an encoder that draws neighbours together makes of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import isotrope
from isotrope.evaluation.label_free.comparing import compare_encoders
from isotrope.evaluation.label_free.comparison import Comparison
from isotrope.evaluation.label_free.details import compare_details, shorten
from isotrope.evaluation.label_free.neighbourhoods import Shift
from isotrope.evaluation.label_free.related_texts import RelatedTexts
from isotrope.evaluation.label_free.verdict import MRRDifference
from isotrope.fits.smoothing import Smoothing
from isotrope.text import bundled_sentences

TEXTS = bundled_sentences()[::5]
UP, DOWN, FLAT = MRRDifference(2, 1, 3), MRRDifference(-2, -3, -1), MRRDifference(0, -1, 1)


@pytest.mark.parametrize("text", ["one two three four", "我喜欢吃苹果和梨", "a, b; c - d e f g h i j", TEXTS[3]])
def test_two_of_five_words_go_and_the_rest_stay_in_order(text: str) -> None:
    short = shorten(text)
    assert short == shorten(text)
    assert short is not None
    left = iter(text)
    assert all(letter in left for letter in short)  # a subsequence
    assert len(short) < len(text)
    assert shorten("one two three") is None


def test_the_number_of_words_that_go() -> None:
    short = shorten(" ".join(f"w{k}" for k in range(20)))
    assert short is not None
    assert len(short.split()) == 12


def test_drawing_neighbours_together_costs_details_and_is_called_so() -> None:
    encoder = isotrope.load("small")
    drawn = Smoothing(strength=5.0, threshold=0.0, trust=0).fit(encoder, TEXTS)
    nothing = RelatedTexts("halves", [], [])
    found = compare_encoders(encoder, drawn, TEXTS, [nothing])
    assert found.details is not None
    assert found.details.judgement == found.told_apart == "worse"
    assert f"{found.details.before:.1f} before and {found.details.after:.1f} after" in found.reasons
    assert compare_encoders(encoder, encoder, TEXTS, [nothing]).told_apart == "no clear difference"


def test_mrr_is_that_of_its_definition() -> None:
    """Of each shortened text: one over the rank of its whole, and the same the other way round."""
    encoder = isotrope.load("bundled")
    texts = TEXTS[:60]
    found = compare_details((encoder, encoder), (encoder.encode(texts),) * 2, texts)
    assert found is not None
    kept = [text for text in texts if shorten(text)]
    x, y = (v / np.linalg.norm(v, axis=1, keepdims=True) for v in map(encoder.encode, ([*map(shorten, kept)], kept)))
    cosines = (x @ y.T).astype(np.float64)
    ranks = [1 + sum(row[j] > row[i] for j in range(len(row))) for c in (cosines, cosines.T) for i, row in enumerate(c)]
    assert found.before == pytest.approx(100 * np.mean(1 / np.array(ranks)), abs=0.2)
    assert (found.change, found.judgement) == (0, "no clear difference")


def test_few_texts_with_words_to_spare_say_nothing() -> None:
    encoder: Any = None
    assert compare_details((encoder, encoder), (), ["two words"] * 500) is None


@pytest.mark.parametrize(
    ("pairs", "told"), [(UP, "no clear difference"), (FLAT, "worse"), (DOWN, "worse"), (None, "worse")]
)
def test_lost_details_are_never_told_apart_better(pairs: MRRDifference | None, told: str) -> None:
    figures: Any = None
    differences = {"halves": pairs} if pairs else {}
    lost = Shift(90.0, 88.0, -3.0, -1.0)
    assert Comparison(figures, figures, differences, [], [], details=lost).told_apart == told
    won = Shift(88.0, 90.0, 1.0, 3.0)
    alone = Comparison(figures, figures, differences, [], []).told_apart
    assert Comparison(figures, figures, differences, [], [], details=won).told_apart == alone
