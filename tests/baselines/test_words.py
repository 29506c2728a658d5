"""The cosine baseline of SemEval-2017."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from isotrope.baselines.base import BASELINES
from isotrope.baselines.tfidf import words
from isotrope.evaluation import load_pairs, score_pairs
from isotrope.io.errors import IsotropeError

SENTENCES = ["A dog, a dog runs.", "The dog sleeps!", "Rain."]


def test_the_cosine_is_that_of_the_sets_of_words() -> None:
    encoder = BASELINES.make("words").fit(SENTENCES)
    vectors = np.asarray(encoder.encode(SENTENCES), np.float64)
    sets = [set(words(sentence)) for sentence in SENTENCES]
    for one, a in zip(sets, vectors, strict=True):
        for other, b in zip(sets, vectors, strict=True):
            found = a @ b / (np.linalg.norm(a) * np.linalg.norm(b))
            assert found == pytest.approx(len(one & other) / math.sqrt(len(one) * len(other)))


def test_a_text_without_words_is_refused() -> None:
    with pytest.raises(IsotropeError, match="has no words"):
        BASELINES.make("words").fit(["..."])


@pytest.mark.parametrize(("track", "published"), [("track5.en-en", 72.78), ("track3.es-es", 71.17)])
def test_it_comes_near_to_the_published_figure(track: str, published: float, shared_data: Path) -> None:
    """Pearson x 100; how the organisers found their words is not stated."""
    pairs = load_pairs(f"sts17:{track}", data=shared_data)
    encoder = BASELINES.make("words").fit(pairs.sentences)
    assert score_pairs(encoder, pairs).pearson["all"] == pytest.approx(published, abs=3)
