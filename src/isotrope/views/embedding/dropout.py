"""Dropout at the embedding layer (paper 2, section 3.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

import torch
from pydantic import Field
from torch import Tensor

from isotrope.views.embedding.base import ConsertLayerView, zero
from isotrope.views.embedding.draws import choose, sentence_of, share

if TYPE_CHECKING:
    from isotrope.encoders.packing import Batch


class Dropout(ConsertLayerView):
    """Single elements are zeroed, each with probability `rate`; `rescale` has the others x 1 / (1 - rate).

    `exact`: int(tokens x dim x rate) elements of each sentence instead, as in the published code.
    """

    kind: Literal["dropout"] = "dropout"
    rate: float = Field(default=0.2, ge=0, lt=1)  # section 4.1
    exact: bool = False
    rescale: bool = False
    official: ClassVar[dict[str, Any]] = {"exact": True}

    def __call__(self, embeddings: Tensor, batch: Batch) -> Tensor:
        """Embeddings (rows, width, dim) with some elements at zero."""
        tokens, dim = batch.token_index.numel(), embeddings.shape[-1]
        if self.exact:
            sentence = sentence_of(batch).repeat_interleave(dim)
            cut = choose(sentence, share(batch.lengths * dim, self.rate, "down")).view(tokens, dim)
        else:
            cut = torch.rand(tokens, dim, device=embeddings.device) < self.rate
        seen = zero(embeddings, batch, cut)
        return seen / (1 - self.rate) if self.rescale else seen
