"""Feature cutoff (paper 2, section 3.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

import torch
from pydantic import Field
from torch import Tensor

from isotrope.views.embedding.base import ConsertLayerView, zero
from isotrope.views.embedding.draws import Rounding, sentence_of, share

if TYPE_CHECKING:
    from isotrope.encoders.packing import Batch


class FeatureCutoff(ConsertLayerView):
    """Whole columns of a sentence's L x d matrix are zeroed, other ones in each sentence.

    At 0.2 of 768 columns that is 154; the published code rounds down to 153.
    """

    kind: Literal["feature-cutoff"] = "feature-cutoff"
    rate: float = Field(default=0.2, ge=0, lt=1)  # section 4.1
    rounding: Rounding = "nearest"
    official: ClassVar[dict[str, Any]] = {"rounding": "down"}

    def __call__(self, embeddings: Tensor, batch: Batch) -> Tensor:
        """Embeddings (rows, width, dim) with some columns of each sentence at zero."""
        dim = embeddings.shape[-1]
        keys = torch.rand(batch.lengths.numel(), dim, device=embeddings.device)
        cut = keys.argsort(dim=1) < share(torch.tensor(dim), self.rate, self.rounding)  # (sentences, dim)
        return zero(embeddings, batch, cut[sentence_of(batch)])
