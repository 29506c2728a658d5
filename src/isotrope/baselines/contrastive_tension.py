"""Contrastive Tension (Carlsson et al., 2021), a reference."""

from __future__ import annotations

import random
from typing import Any, ClassVar

from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.losses import ContrastiveTensionLoss

from isotrope.baselines.reference import Pairs, ReferenceSpec


class ContrastiveTensionSpec(ReferenceSpec):
    """Two copies of the encoder agree on a sentence with itself, and disagree on seven others."""

    title: ClassVar[str] = "Contrastive Tension (Carlsson et al., 2021), by sentence-transformers"
    optimizer: ClassVar[str] = "rmsprop"
    kind: str = "ct"
    pooling: str | None = "mean"

    def pairs(self, sentences: list[str], draws: random.Random) -> Pairs:
        """As the paper has them."""
        return tension_pairs(sentences, draws)

    def loss(self, model: SentenceTransformer) -> Any:
        """sentence-transformers' own."""
        return ContrastiveTensionLoss(model)


def tension_pairs(sentences: list[str], draws: random.Random) -> Pairs:
    """A sentence with itself and with seven others, without end."""
    while True:
        sentence = draws.choice(sentences)
        yield sentence, sentence
        for _ in range(7):
            yield sentence, draws.choice(sentences)
