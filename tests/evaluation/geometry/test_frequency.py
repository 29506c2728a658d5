from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import isotrope
from isotrope.evaluation import Pairs, load_pairs, score_pairs
from isotrope.evaluation.geometry import mean_cosine, uniformity
from isotrope.evaluation.geometry.frequency import averaging, frequent_tokens, sensitivity, vectors_without
from isotrope.text import bundled_sentences

REMOVED = (0, 2, 10, 100)


@pytest.fixture(scope="module")
def encoder() -> isotrope.Encoder:
    return isotrope.load("bundled", pooling="mean", device="cpu")


@pytest.fixture(scope="module")
def sentences() -> list[str]:
    return bundled_sentences()[:150]  # three batches


def naive(encoder: isotrope.Encoder, sentence: str, frequent: list[int]) -> np.ndarray:
    """One sentence by itself: the mean of the token vectors that are left, or of all if none is."""
    (ids,) = encoder.tokenize([sentence])
    tokens = encoder.encode(sentence, output_value="token_embeddings").numpy()
    kept = [vector for token, vector in zip(ids, tokens, strict=True) if token not in frequent]
    return np.mean(kept or list(tokens), axis=0)


@pytest.mark.parametrize("packed", [True, False])
def test_each_vector_is_the_mean_over_the_other_tokens(
    encoder: isotrope.Encoder, sentences: list[str], packed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encoder, "packing", packed)
    some = [*sentences[:20], "the of", "."]  # the last two: nothing left
    tokens = frequent_tokens(encoder, sentences)
    found = vectors_without(encoder, some, tokens, REMOVED)
    for vectors, k in zip(found, REMOVED, strict=True):
        for vector, sentence in zip(vectors, some, strict=True):
            assert vector == pytest.approx(naive(encoder, sentence, list(tokens)[:k]), abs=1e-5)
    np.testing.assert_allclose(found[-1][-2:], encoder.encode(some[-2:]), atol=1e-5)


def test_tokens_are_counted_with_the_specials_and_ordered(encoder: isotrope.Encoder, sentences: list[str]) -> None:
    found = frequent_tokens(encoder, sentences)
    wanted = Counter(token for ids in encoder.tokenize(sentences) for token in ids)
    assert found == wanted
    assert list(found.values()) == sorted(wanted.values(), reverse=True)
    assert {"[CLS]", "[SEP]"} < set(encoder.tokenizer.convert_ids_to_tokens(list(found)[:3]))
    assert list(frequent_tokens(encoder, sentences[::-1])) == list(found)


def test_without_grades_it_is_the_geometry_of_those_vectors(encoder: isotrope.Encoder, sentences: list[str]) -> None:
    found = sensitivity(encoder, sentences, REMOVED)
    vectors = vectors_without(encoder, sentences, frequent_tokens(encoder, sentences), REMOVED)
    assert found.removed == REMOVED
    assert found.spearman is None
    assert found.mean_cosine == tuple(map(mean_cosine, vectors))
    assert found.uniformity == tuple(map(uniformity, vectors))
    assert found.mean_cosine[0] == pytest.approx(mean_cosine(encoder.encode(sentences)), abs=1e-6)
    assert len(set(found.mean_cosine)) == len(REMOVED)


def test_with_grades_it_begins_at_the_encoders_own_score(encoder: isotrope.Encoder) -> None:
    dev = load_pairs("bundled", split="dev")
    pairs = Pairs(dev.sentences1[:60], dev.sentences2[:60], dev.scores[:60], dev.subtask[:60])
    found = sensitivity(encoder, pairs, REMOVED)
    assert found.spearman is not None
    assert found.spearman[0] == pytest.approx(score_pairs(encoder, pairs).spearman["all"], abs=0.05)
    assert found.spearman[-1] != found.spearman[0]


def test_what_does_not_average_is_averaged_at_its_layer(encoder: isotrope.Encoder, sentences: list[str]) -> None:
    assert averaging(encoder) is encoder
    assert str(averaging(encoder.with_pooling("cls@2")).pooling) == "mean@2"
    assert str(averaging(encoder.with_pooling("last2")).pooling) == "last2"
    first = vectors_without(encoder.with_pooling("max"), sentences[:5], [101, 102], [0])[0]
    np.testing.assert_allclose(first, encoder.encode(sentences[:5]), atol=1e-5)


def test_the_encoder_stays_in_its_mode_and_dropout_has_no_part(encoder: isotrope.Encoder, sentences: list[str]) -> None:
    tokens = frequent_tokens(encoder, sentences)
    wanted = vectors_without(encoder, sentences[:9], tokens, [5])[0]
    encoder.train()
    np.testing.assert_array_equal(vectors_without(encoder, sentences[:9], tokens, [5])[0], wanted)
    assert encoder.training
    encoder.eval()
