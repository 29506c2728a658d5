"""Pooling that leaves the most frequent tokens out: ConSERT (paper 2), Figure 4."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import ClassVar

from pydantic import Field
from sentence_transformers.sentence_transformer.modules import WordWeights

from isotrope.baselines.base import OnEncoder
from isotrope.encoders import Encoder, ForeignEncoder
from isotrope.encoders.saving import modules_of
from isotrope.evaluation.geometry.frequency import frequent_tokens
from isotrope.io.errors import IsotropeError

# What a token that is left out still weighs beside 1. Next to any other token it is lost in rounding; where a sentence
# has none but such tokens, they weigh the same and their mean is the plain mean.
NEXT_TO_NOTHING = 1e-7


class FrequentSpec(OnEncoder):
    """A mean without the most frequent tokens."""

    title: ClassVar[str] = "A mean without the most frequent tokens (Yan et al., 2021, Figure 4)"
    kind: str = "frequent"
    pooling: str | None = None  # None: the encoder's own
    top: int = Field(default=34, ge=0)  # tokens to leave out, [CLS] and [SEP] included

    def fit(self, text: Iterable[str] | None, *, show_progress: bool = False) -> ForeignEncoder:
        """Counts the tokens of the text."""
        return without_frequent(self.encoder(self.pooling), text or (), self.top)


def without_frequent(encoder: Encoder, sentences: Iterable[str], top: int) -> ForeignEncoder:
    """The encoder without the `top` tokens that the sentences have most often; [CLS] and [SEP] count as tokens."""
    return without_tokens(encoder, list(frequent_tokens(encoder, list(sentences)))[:top])


def without_tokens(encoder: Encoder, tokens: Collection[int]) -> ForeignEncoder:
    """The encoder with these token ids left out when the mean is taken. A sentence of nothing else keeps them all.

    They are read by the backbone as before. The weights are a sentence-transformers WordWeights module, which stands
    before the pooling: it loads without isotrope.
    """
    if encoder.pooling.reduction != "mean":
        raise IsotropeError(
            f"tokens can be left out of a mean, not of '{encoder.pooling}' pooling; choose mean or last2"
        )
    left_out = set(tokens)
    vocabulary = encoder.tokenizer.convert_ids_to_tokens(list(range(len(encoder.tokenizer))))
    weights = {word: NEXT_TO_NOTHING if i in left_out else 1.0 for i, word in enumerate(vocabulary)}
    *before, pooling = modules_of(encoder.with_after_pooling([]))
    return ForeignEncoder.of(encoder, [*before, WordWeights(vocabulary, weights), pooling, *encoder.after_pooling])
