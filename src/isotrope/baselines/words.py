"""The cosine baseline of SemEval-2017 (Cer et al. 2017; paper 1, Table 3): which words a sentence has."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import BoW

from isotrope.baselines.base import BaselineSpec
from isotrope.baselines.tfidf import words
from isotrope.encoders import ForeignEncoder
from isotrope.io.errors import IsotropeError


class WordsSpec(BaselineSpec):
    """1 for each word of the text that is in a sentence, 0 for the others. Fit it on the sentences to be compared."""

    title: ClassVar[str] = "Words in common"
    kind: str = "words"

    def fit(self, text: Iterable[str] | None, *, show_progress: bool = False) -> ForeignEncoder:
        """Reads the text once, for its words."""
        vocabulary = sorted({word for sentence in text or () for word in words(sentence)})
        if not vocabulary:
            raise IsotropeError("words: the given text has no words")
        counted = BoW(vocabulary, cumulative_term_frequency=False)
        return ForeignEncoder(SentenceTransformer(modules=[counted]), name="words").eval()
