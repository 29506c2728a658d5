"""Unigram TF-IDF: a sentence is the counts of its words, rare words weighing more."""

from __future__ import annotations

import math
import string
from collections import Counter
from collections.abc import Iterable
from typing import ClassVar

from pydantic import Field
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import BoW

from isotrope.baselines.base import BaselineSpec
from isotrope.encoders import ForeignEncoder
from isotrope.io.errors import IsotropeError

MOST_WORDS = 20_000  # a vector has a number for each word, zeros included


class TfidfSpec(BaselineSpec):
    """Counts of words."""

    title: ClassVar[str] = "Unigram TF-IDF"
    kind: str = "tfidf"
    dim: int = Field(default=MOST_WORDS, ge=1)  # words that are counted

    def fit(self, text: Iterable[str] | None, *, show_progress: bool = False) -> ForeignEncoder:
        """Reads the text once."""
        return fit_tfidf(text or (), self.dim)


def fit_tfidf(sentences: Iterable[str], dim: int = MOST_WORDS) -> ForeignEncoder:
    """Vectors over the `dim` most frequent words; count x (1 + ln((1 + sentences) / (1 + those with the word))).

    It is a sentence-transformers BoW module: it loads without isotrope. Words are what stands between blanks, without
    punctuation around it, in lower case; a sentence without any known word has the vector zero.
    """
    found: Counter[str] = Counter()
    total = 0
    for sentence in sentences:
        found.update(set(words(sentence)))
        total += 1
    vocabulary = sorted(found, key=lambda word: (-found[word], word))[:dim]
    if not vocabulary:
        raise IsotropeError("TF-IDF: the given text has no words")
    weights = {word: 1 + math.log((1 + total) / (1 + found[word])) for word in vocabulary}
    return ForeignEncoder(SentenceTransformer(modules=[BoW(vocabulary, weights)]), name="tfidf").eval()


def words(sentence: str) -> list[str]:
    """The words that BoW looks up where all that it knows is in lower case."""
    stripped = (token.strip(string.punctuation).lower() for token in sentence.split())
    return [word for word in stripped if word]
