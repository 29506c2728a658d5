from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sentence_transformers.sentence_transformer.modules import BoW
from sklearn.feature_extraction.text import TfidfVectorizer

from isotrope.baselines.tfidf import fit_tfidf, words
from isotrope.io.errors import IsotropeError


def test_against_scikit_learn(text: list[str]) -> None:
    peer = TfidfVectorizer(analyzer=words, norm=None)
    wanted = peer.fit_transform(text).toarray()
    encoder = fit_tfidf(iter(text))
    columns = [peer.vocabulary_[word] for word in encoder.model[0].vocab]
    assert sorted(columns) == list(range(encoder.dim))
    assert np.abs(encoder.encode(text) - wanted[:, columns]).max() <= 1e-4
    new = ["A man, a MAN; and a guitar!", "(zxqv) walks"]
    assert np.abs(encoder.encode(new) - peer.transform(new).toarray()[:, columns]).max() <= 1e-4


@given(st.lists(st.text(alphabet="aBcÄß'.,-! \t", max_size=20), min_size=1, max_size=4))
@settings(max_examples=100, deadline=None)
def test_bow_finds_just_these_words(sentences: list[str]) -> None:
    vocabulary = sorted({word for sentence in sentences for word in words(sentence)})
    tokenizer = BoW(vocabulary).tokenizer
    for sentence in sentences:
        assert [vocabulary[i] for i in tokenizer.tokenize(sentence)] == words(sentence)


def test_the_most_frequent_words_are_kept() -> None:
    encoder = fit_tfidf(["b a", "b c", "b c d", "d"], 2)
    assert encoder.model[0].vocab == ["b", "c"]
    assert not encoder.encode("a d").any()


def test_text_without_words() -> None:
    with pytest.raises(IsotropeError, match="has no words"):
        fit_tfidf(["...", "-- !"])
