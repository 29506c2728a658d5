from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.evaluation import EmbeddingSimilarityEvaluator

import isotrope
from isotrope.evaluation import Pairs, load_pairs, score_pairs
from isotrope.evaluation.correlation import best_of_four, correlations, pair_vectors
from isotrope.io.errors import IsotropeError

FOUR = ["cosine", "manhattan", "euclidean", "dot"]


@pytest.fixture(scope="module")
def encoder() -> isotrope.Encoder:
    return isotrope.load("bundled", device="cpu")


# -- naive twins ------------------------------------------------------------------------------------------------------


def naive_pearson(x: list[float], y: list[float]) -> float:
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    covariance = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    spread = sum((a - mean_x) ** 2 for a in x) * sum((b - mean_y) ** 2 for b in y)
    return covariance / math.sqrt(spread)


def naive_ranks(values: list[float]) -> list[float]:
    """Tied values share the mean of their places."""
    return [sum(v < value for v in values) + (sum(v == value for v in values) + 1) / 2 for value in values]


def naive_spearman(x: list[float], y: list[float]) -> float:
    return naive_pearson(naive_ranks(x), naive_ranks(y))


@st.composite
def graded(draw: st.DrawFn) -> tuple[Pairs, list[float]]:
    """One to four subtasks of 3 to 12 pairs, shuffled together; both gold scores and similarities have ties."""
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    subtask: list[str] = []
    gold: list[float] = []
    similarity: list[float] = []
    for name in "abcd"[: draw(st.integers(1, 4))]:
        size = draw(st.integers(3, 12))
        subtask += [name] * size
        gold += [0.0, 5.0, *generator.integers(0, 6, size - 2).tolist()]
        similarity += [0.1, 0.9, *(generator.integers(0, 11, size - 2) / 10).tolist()]
    order = generator.permutation(len(gold))
    sentences = [""] * len(gold)
    pairs = Pairs(sentences, sentences, [gold[i] for i in order], [subtask[i] for i in order])
    return pairs, [similarity[i] for i in order]


@given(graded())
def test_every_aggregation_equals_its_definition(case: tuple[Pairs, list[float]]) -> None:
    pairs, similarity = case
    result = correlations(pairs, np.array(similarity))
    for naive, figures in ((naive_spearman, result.spearman), (naive_pearson, result.pearson)):
        parts = {}
        for name in set(pairs.subtask):
            rows = [i for i, subtask in enumerate(pairs.subtask) if subtask == name]
            parts[name] = (naive([similarity[i] for i in rows], [pairs.scores[i] for i in rows]), len(rows))
        assert figures["all"] == pytest.approx(100 * naive(similarity, pairs.scores), abs=1e-9)
        assert figures["mean"] == pytest.approx(100 * sum(f for f, _ in parts.values()) / len(parts), abs=1e-9)
        weighted = sum(f * n for f, n in parts.values()) / len(pairs.scores)
        assert figures["wmean"] == pytest.approx(100 * weighted, abs=1e-9)
    assert result.pairs == len(pairs.scores) == sum(one.pairs for one in result.subtasks.values())


@given(graded())
def test_ranks_alone_matter_to_spearman(case: tuple[Pairs, list[float]]) -> None:
    pairs, similarity = case
    plain, bent = correlations(pairs, np.array(similarity)), correlations(pairs, np.exp(3 * np.array(similarity)))
    assert plain.spearman == pytest.approx(bent.spearman, abs=1e-9)
    assert correlations(pairs, -np.array(similarity)).pearson["all"] == pytest.approx(-plain.pearson["all"], abs=1e-9)


# -- with an encoder --------------------------------------------------------------------------------------------------


def test_scores_equal_one_sentence_at_a_time(encoder: isotrope.Encoder) -> None:
    bundled = load_pairs("bundled")
    pairs = Pairs(bundled.sentences1[:30], bundled.sentences2[:30], bundled.scores[:30], ["a"] * 10 + ["b"] * 20)
    cosines = []
    for one, two in zip(pairs.sentences1, pairs.sentences2, strict=True):
        x, y = encoder.encode(one), encoder.encode(two)
        cosines.append(float(x @ y / np.linalg.norm(x) / np.linalg.norm(y)))
    result = score_pairs(encoder, pairs, batch_size=7)
    assert result.spearman["all"] == pytest.approx(100 * naive_spearman(cosines, pairs.scores), abs=0.1)
    assert result.pearson["all"] == pytest.approx(100 * naive_pearson(cosines, pairs.scores), abs=1e-3)
    assert result.subtasks["b"].pearson == pytest.approx(100 * naive_pearson(cosines[10:], pairs.scores[10:]), abs=1e-3)


def test_each_distinct_sentence_is_encoded_once(encoder: isotrope.Encoder, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    encode = encoder.encode

    def watched(texts: Iterable[str], **options: Any) -> Any:
        seen.extend(texts)
        return encode(texts, **options)

    monkeypatch.setattr(encoder, "encode", watched)
    pairs = Pairs(["A cat.", "A cat.", "A dog."], ["A cat.", "A dog.", "Rain fell."], [5, 3, 0], ["a"] * 3)
    score_pairs(encoder, pairs)
    assert seen == ["A cat.", "A dog.", "Rain fell."]


class Table:
    """An encoder that looks its vectors up; what it does not know is zero."""

    def __init__(self, vectors: dict[str, list[float]]) -> None:
        self.vectors = vectors

    def encode(self, texts: list[str], **options: Any) -> Any:
        return np.array([self.vectors.get(text, [0.0, 0.0]) for text in texts])


@given(st.integers(0, 2**32 - 1))
def test_best_of_four_is_the_best_of_its_definitions(seed: int) -> None:
    generator = np.random.default_rng(seed)
    vectors = {name: generator.normal(size=3).tolist() for name in "abcdefghij"}
    pairs = Pairs(list("abcde"), list("fghij"), generator.permutation(5).tolist(), ["x"] * 5)
    both = [(vectors[one], vectors[two]) for one, two in zip("abcde", "fghij", strict=True)]
    dot = [sum(a * b for a, b in zip(x, y, strict=True)) for x, y in both]
    cosine = [one / math.hypot(*x) / math.hypot(*y) for one, (x, y) in zip(dot, both, strict=True)]
    manhattan = [-sum(abs(a - b) for a, b in zip(x, y, strict=True)) for x, y in both]
    euclidean = [-math.dist(x, y) for x, y in both]
    best = max(naive_spearman(one, pairs.scores) for one in (dot, cosine, manhattan, euclidean))
    assert best_of_four(*zip(*both, strict=True), np.array(pairs.scores)) == pytest.approx(100 * best, abs=1e-9)


@pytest.mark.parametrize("pooling", ["mean", "cls"])  # of which one has its best in a distance, one in the dot product
def test_best_of_four_is_what_sentence_transformers_chooses_by(tmp_path: Path, pooling: str) -> None:
    pairs = load_pairs("bundled", split="dev")
    encoder = isotrope.load(pooling=pooling)
    judge = EmbeddingSimilarityEvaluator(pairs.sentences1, pairs.sentences2, pairs.scores, similarity_fn_names=FOUR)
    figures = judge(SentenceTransformer(str(encoder.save(tmp_path / "encoder")), device="cpu"))
    found = best_of_four(*pair_vectors(encoder, pairs)[1:], np.array(pairs.scores))
    assert found == pytest.approx(100 * figures["spearman_max"], abs=0.05)
    assert found > score_pairs(encoder, pairs).spearman["all"] + 1


def test_as_json_is_plain_and_rounded(encoder: isotrope.Encoder) -> None:
    result = score_pairs(encoder, load_pairs("bundled", split="dev"), split="dev")
    shown = result.as_json()
    assert list(shown) == ["spearman", "pearson", "pairs", "split"]
    assert shown["split"] == "dev"
    assert shown["pairs"] == len(load_pairs("bundled", split="dev").scores)
    for kind in ("spearman", "pearson"):
        assert list(shown[kind]) == ["all", "mean", "wmean"]
        for name, figure in shown[kind].items():
            assert type(figure) is float
            assert figure == round(getattr(result, kind)[name], 2)


PAIRS = Pairs(["Rain.", "Snow.", "Wind.", "Sun."], ["Hail.", "Ice.", "Air.", "Moon."], [0, 1, 2, 5], ["weather"] * 4)


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        (Pairs(["a", "b"], ["c", "d"], [0, 5], ["x", "x"]), "x: 2 pairs; a correlation needs at least 3"),
        (Pairs([], [], [], []), "all pairs: 0 pairs"),
        (replace(PAIRS, subtask=["x", "x", "x", "y"]), "y: 1 pairs"),
        (replace(PAIRS, scores=[3.0] * 4), "weather: every pair has the same gold score, 3"),
        (
            replace(PAIRS, sentences2=PAIRS.sentences1),
            "weather: the encoder gives every pair the same cosine, 1.000000",
        ),
    ],
)
def test_what_can_not_be_correlated(encoder: isotrope.Encoder, pairs: Pairs, message: str) -> None:
    with pytest.raises(IsotropeError, match=message):
        score_pairs(encoder, pairs)


def test_zero_vectors_have_cosine_0_as_in_senteval() -> None:
    known = Table({"Rain.": [1, 0], "Hail.": [-1, 1], "Snow.": [1, 1], "Ice.": [1, 0], "Sun.": [0, 2], "Moon.": [0, 1]})
    result = score_pairs(known, PAIRS)  # cosines -0.71, 0.71, 0 (neither is known), 1
    assert result.spearman["all"] == pytest.approx(100 * naive_spearman([-0.71, 0.71, 0, 1], [0, 1, 2, 5]))


def test_vectors_that_say_nothing_of_any_pair() -> None:
    with pytest.raises(IsotropeError, match="weather: the encoder gives every pair the same cosine, 0"):
        score_pairs(Table({}), PAIRS)
    with pytest.raises(IsotropeError, match="weather: the encoder gives vectors that are not numbers"):
        score_pairs(Table({"Rain.": [math.nan, 1]}), PAIRS)


# -- published figures ------------------------------------------------------------------------------------------------


def test_minilm_has_its_known_figures(shared_data: Path, minilm: isotrope.Encoder) -> None:
    """Both poolings in one pass."""
    records = isotrope.evaluate(minilm, ["stsb"], pooling=["mean", "cls"], data=shared_data, cache=False).records()
    assert [one["figure"] for one in records] == pytest.approx([82.03, 73.50], abs=0.05)


@pytest.mark.parametrize(
    ("task", "whole", "sampled"), [("sts12", 72.37, 70.92), ("sts13", 80.60, 76.88), ("sts14", 75.59, 79.49)]
)
def test_minilm_has_its_known_figures_on_other_sets(
    shared_data: Path, minilm: isotrope.Encoder, whole_sets: bool, task: str, whole: float, sampled: float
) -> None:
    """On every eighth pair, as sentence-transformers and SciPy have it, unless whole sets are wanted."""
    pairs = load_pairs(task, data=shared_data)
    some = pairs if whole_sets else pairs.rows(range(0, len(pairs.scores), 8))
    assert score_pairs(minilm, some).spearman["all"] == pytest.approx(whole if whole_sets else sampled, abs=0.05)
