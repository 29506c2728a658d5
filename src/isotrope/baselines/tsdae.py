"""TSDAE (Wang et al., 2021), a reference: a decoder restores a damaged sentence from its vector."""

from __future__ import annotations

import random
from typing import Any, ClassVar

from pydantic import Field
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.losses import DenoisingAutoEncoderLoss

from isotrope.baselines.reference import Pairs, ReferenceSpec


class TsdaeSpec(ReferenceSpec):
    """A denoising auto-encoder, with the decoder's weights tied to the encoder's."""

    title: ClassVar[str] = "TSDAE (Wang et al., 2021), by sentence-transformers"
    kind: str = "tsdae"
    pooling: str | None = "cls"
    batch_size: int = Field(default=8, ge=1)
    learning_rate: float = Field(default=3e-5, gt=0)

    def pairs(self, sentences: list[str], draws: random.Random) -> Pairs:
        """As the paper has them."""
        return damaged_pairs(sentences, draws)

    def loss(self, model: SentenceTransformer) -> Any:
        """sentence-transformers' own."""
        return DenoisingAutoEncoderLoss(model)


def damaged_pairs(sentences: list[str], draws: random.Random) -> Pairs:
    """A sentence that lost 60% of its words, but never all of them, and the whole, without end."""
    while True:
        sentence = draws.choice(sentences)
        words = sentence.split()
        kept = [word for word in words if draws.random() >= 0.6] or [draws.choice(words)]
        yield " ".join(kept), sentence
