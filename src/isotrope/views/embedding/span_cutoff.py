"""Span cutoff: ConSERT's paper names it and does not use it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

import torch
from pydantic import Field
from torch import Tensor

from isotrope.views.embedding.base import ConsertLayerView, zero_tokens
from isotrope.views.embedding.draws import Rounding, free_tokens, rank, sentence_of, share

if TYPE_CHECKING:
    from isotrope.encoders.packing import Batch


class SpanCutoff(ConsertLayerView):
    """Neighbouring tokens are zeroed.

    `keep`: the span, of a share 1 - `rate` and at least one token, is what stays, and both ends go, as in the published
    code. That code masks what it cuts when attention has its mask already, so it is attended to there as well. It puts
    the embedding of [PAD] in its place; this view puts zeros.
    """

    kind: Literal["span-cutoff"] = "span-cutoff"
    rate: float = Field(default=0.15, ge=0, lt=1)  # that of token cutoff: the paper states none
    specials: bool = False
    rounding: Rounding = "nearest"
    keep: bool = False
    official: ClassVar[dict[str, Any]] = {"at": "word", "specials": True, "rounding": "down", "keep": True}

    def __call__(self, embeddings: Tensor, batch: Batch) -> Tensor:
        """Embeddings (rows, width, dim) with a span, or all but a span, at zero."""
        free = free_tokens(batch, self.specials)
        sentence = sentence_of(batch)[free]
        size = sentence.bincount(minlength=batch.lengths.numel())
        span = share(size, 1 - self.rate if self.keep else self.rate, self.rounding)
        if self.keep:
            span = span.clamp(min=1).minimum(size)
        start = torch.randint(2**32, size.shape, device=size.device) % (size - span + 1)
        place = rank(sentence) - start[sentence]
        inside = (place >= 0) & (place < span[sentence])
        return zero_tokens(embeddings, batch, free[inside != self.keep])
