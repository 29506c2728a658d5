from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import isotrope
from isotrope.evaluation.label_free import verdict
from isotrope.evaluation.label_free.comparing import compare_encoders
from isotrope.evaluation.label_free.comparison import Comparison
from isotrope.evaluation.label_free.related_texts import RelatedTexts, halves
from isotrope.evaluation.label_free.verdict import MRRDifference, Ranks, find_each_other, mrr_difference, unit
from isotrope.io.errors import IsotropeError
from isotrope.text import bundled_sentences

Vectors = NDArray[np.float64]


class Noise:
    """Vectors that depend on nothing but the text, and mean nothing."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def encode(self, sentences: list[str], *, batch_size: int = 64) -> Vectors:
        return np.stack([self._vector(text) for text in sentences])

    def _vector(self, text: str) -> Vectors:
        return np.random.default_rng([self.seed, *text.encode()]).normal(size=16)


class OnePoint:
    def encode(self, sentences: list[str], *, batch_size: int = 64) -> Vectors:
        return np.ones((len(sentences), 8))


class Once:
    """An encoder that encodes each text once in all tests."""

    def __init__(self, encoder: isotrope.Encoder) -> None:
        self.encoder, self.known = encoder, {}

    def encode(self, sentences: list[str], *, batch_size: int = 64) -> Vectors:
        new = [text for text in sentences if text not in self.known]
        self.known |= dict(zip(new, self.encoder.encode(new), strict=True))
        return np.stack([self.known[text] for text in sentences])


@pytest.fixture(scope="module")
def encoder() -> Once:
    return Once(isotrope.load("bundled", device="cpu"))


@pytest.fixture(scope="module")
def sentences() -> list[str]:
    return bundled_sentences()[::12]


@pytest.fixture(scope="module")
def related(sentences: list[str]) -> RelatedTexts:
    """Wordings that share half of their words: easy enough to tell a good encoder from noise in few."""
    words = [sentence.split() for sentence in sentences if len(sentence.split()) >= 8]
    half = [" ".join(some[: len(some) * 3 // 4]) for some in words]
    return RelatedTexts("parts", half, [" ".join(some[len(some) // 4 :]) for some in words])


@st.composite
def two_sides(draw: st.DrawFn) -> tuple[Vectors, Vectors, RelatedTexts]:
    """Small clouds with ties, vectors of zeros, and texts that occur twice."""
    pairs, dim = draw(st.integers(1, 9)), draw(st.integers(1, 3))
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    first, second = generator.integers(-1, 2, (2, pairs, dim)).astype(float)
    texts = [[f"text {i}" for i in generator.integers(0, 2 * pairs, pairs)] for _ in range(2)]
    return first, second, RelatedTexts("pairs", *texts)


def naive_rank(i: int, queries: Vectors, candidates: Vectors, texts: list[str]) -> int:
    def cosine(x: Vectors, y: Vectors) -> float:
        length = math.sqrt((x @ x) * (y @ y))
        return float(x @ y) / length if length else 0.0

    own = cosine(queries[i], candidates[i])
    others = (j for j in range(len(texts)) if texts[j] != texts[i])
    return 1 + sum(cosine(queries[i], candidates[j]) >= own - 1e-6 for j in others)


@given(two_sides())
def test_ranks_equal_the_double_loop(sides: tuple[Vectors, Vectors, RelatedTexts]) -> None:
    first, second, pairs = sides
    found = find_each_other(first, second, pairs)
    there = [naive_rank(i, first, second, pairs.second) for i in range(len(pairs))]
    back = [naive_rank(i, second, first, pairs.first) for i in range(len(pairs))]
    assert found.ranks.tolist() == [there, back]
    ranks = sorted(there + back)
    assert found.mrr == pytest.approx(sum(1 / rank for rank in ranks) / len(ranks))
    assert found.recall == pytest.approx(ranks.count(1) / len(ranks))
    assert found.median_rank == (ranks[len(pairs) - 1] + ranks[len(pairs)]) / 2


def test_blocks_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = np.random.default_rng(0).normal(size=(2, 50, 4))
    pairs = RelatedTexts("pairs", [f"a {i}" for i in range(50)], [f"b {i % 40}" for i in range(50)])
    whole = find_each_other(x, y, pairs).ranks
    monkeypatch.setattr(verdict, "QUERIES_AT_ONCE", 7)
    assert (find_each_other(x, y, pairs).ranks == whole).all()


def test_who_sees_no_difference_finds_nothing() -> None:
    texts = [f"text {i}" for i in range(30)]
    found = find_each_other(np.ones((30, 4)), np.ones((30, 4)), RelatedTexts("pairs", texts, texts))
    assert (found.ranks == 30).all()
    assert find_each_other(np.eye(30), np.eye(30), RelatedTexts("pairs", texts, texts)).mrr == 1


def test_vectors_that_are_not_numbers_are_refused() -> None:
    with pytest.raises(IsotropeError, match="not numbers"):
        unit(np.array([[1.0, np.nan]]))


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1), st.integers(2, 200))
def test_the_same_encoder_twice_is_no_clear_difference(seed: int, pairs: int) -> None:
    x, y = np.random.default_rng(seed).normal(size=(2, pairs, 5))
    texts = [str(i) for i in range(pairs)]
    found = find_each_other(x, y, RelatedTexts("pairs", texts, texts))
    nothing = mrr_difference(found, found)
    assert (nothing.mrr, nothing.low, nothing.high) == (0, 0, 0)
    assert nothing.judgement == "no clear difference"


def test_equally_good_encoders_are_seldom_told_apart() -> None:
    """Noise against other noise: about one clear difference in twenty."""
    texts = [str(i) for i in range(200)]
    pairs = RelatedTexts("pairs", texts, texts)
    clear = 0
    for seed in range(60):
        sides = np.random.default_rng(seed).normal(size=(2, 2, 200, 5))
        before, after = (find_each_other(*side, pairs) for side in sides)
        clear += mrr_difference(before, after).judgement != "no clear difference"
    assert clear <= 8


def test_the_difference_is_paired() -> None:
    """A gain on each pair that is small next to the spread over pairs is seen."""
    ranks = np.tile(np.arange(1, 101), (2, 1))
    before = Ranks(ranks + 1, 0)
    after = Ranks(ranks, 0)
    gain = mrr_difference(before, after)
    assert gain.judgement == "better"
    assert gain.mrr == pytest.approx(100 * np.mean(1 / ranks - 1 / (ranks + 1)))
    assert gain.low < gain.mrr < gain.high
    assert mrr_difference(after, before).judgement == "worse"


def test_noise_and_one_point_are_worse_than_the_bundled_encoder(
    encoder: Once, sentences: list[str], related: RelatedTexts
) -> None:
    for bad in (Noise(0), OnePoint()):
        down, up = (
            compare_encoders(encoder, bad, sentences, [related]),
            compare_encoders(bad, encoder, sentences, [related]),
        )
        assert (down.judgement, up.judgement) == ("worse", "better")
        assert down.differences["parts"].mrr == pytest.approx(-up.differences["parts"].mrr)
    same = compare_encoders(encoder, encoder, sentences, [related])
    assert same.judgement == "no clear difference"
    assert same.before.mean_cosine == same.after.mean_cosine
    assert (same.closer, same.apart) == ([], [])


def test_minilm_is_better_than_bundled_by_halves(minilm: isotrope.Encoder, encoder: Once) -> None:
    sentences = bundled_sentences()[::6]
    found = compare_encoders(encoder, minilm, sentences, [halves(sentences)])
    assert (found.judgement, found.told_apart) == ("better", "better")


def test_neighbourhoods_of_another_model_say_nothing() -> None:
    """`small` was distilled from a better encoder and has more cohesive neighbourhoods; that makes it no better one."""
    sentences = bundled_sentences()[::6]
    small, bundled = isotrope.load("small"), isotrope.load("bundled")
    found = compare_encoders(bundled, small, sentences, [halves(sentences)])
    assert (found.together, found.details) == (None, None)
    assert found.judgement == found.told_apart == "better"
    other_pooling = compare_encoders(bundled, bundled.with_pooling("cls"), sentences, [halves(sentences)])
    assert other_pooling.together is not None


def test_kinds_of_pairs_that_contradict_each_other_are_no_verdict() -> None:
    up, down, none = MRRDifference(2, 1, 3), MRRDifference(-2, -3, -1), MRRDifference(0, -1, 1)

    def judged(*differences: MRRDifference) -> str:
        figures: Any = None
        return Comparison(figures, figures, dict(zip("ab", differences, strict=False)), [], []).judgement

    assert judged(up, down) == judged(down, up) == "no clear difference"
    assert judged(up, none) == judged(up, up) == "better"
    assert judged(none, up) == "no clear difference"  # the first kind decides
    assert judged(down) == "worse"


def test_too_few_pairs(encoder: Once, sentences: list[str]) -> None:
    few = halves(sentences[:30])
    with pytest.raises(IsotropeError, match=f"only 90 sentences and {len(few)} pairs of halves; a verdict needs"):
        compare_encoders(encoder, encoder, sentences[:90], [few])
    assert not compare_encoders(encoder, encoder, sentences, [few]).differences  # neighbourhoods are enough
