"""Token cutoff (paper 2, section 3.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field
from torch import Tensor

from isotrope.views.embedding.base import ConsertLayerView, zero_tokens
from isotrope.views.embedding.draws import Rounding, choose, free_tokens, sentence_of, share

if TYPE_CHECKING:
    from isotrope.encoders.packing import Batch


class TokenCutoff(ConsertLayerView):
    """Whole tokens are zeroed, an exact share of those that may be cut in each sentence.

    The published code rounds down and counts [CLS] and [SEP], so at 0.15 a sentence of under 7 tokens is left whole.
    """

    kind: Literal["token-cutoff"] = "token-cutoff"
    rate: float = Field(default=0.15, ge=0, lt=1)  # section 4.1
    specials: bool = False
    rounding: Rounding = "nearest"
    official: ClassVar[dict[str, Any]] = {"specials": True, "rounding": "down"}

    def __call__(self, embeddings: Tensor, batch: Batch) -> Tensor:
        """Embeddings (rows, width, dim) with some tokens at zero."""
        free = free_tokens(batch, self.specials)
        sentence = sentence_of(batch)[free]
        size = sentence.bincount(minlength=batch.lengths.numel())
        drawn = choose(sentence, share(size, self.rate, self.rounding))
        return zero_tokens(embeddings, batch, free[drawn])
