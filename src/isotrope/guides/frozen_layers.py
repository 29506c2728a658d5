"""BERT_F of paper 1: the student as it was before training, which shows its layers."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import torch
from sentence_transformers.sentence_transformer.modules import Pooling as TokenPooling
from torch import Tensor, nn

from isotrope.encoders import Encoder
from isotrope.encoders.backbone import EmbeddingView
from isotrope.encoders.packing import Batch
from isotrope.guides.base import Guide
from isotrope.io.errors import IsotropeError

SAMPLERS = ("all", "uniform", "weighted", "last-k")


class FrozenLayers(Guide):
    """h_i,k = p(H_i,k): one pooled vector of every layer (paper 1, section 3.1), of which sigma may choose one.

    `layers` counts from 0, the embeddings; None is all. `sampler`: `all` gives every layer's vector, (n, layers, dim);
    `uniform` draws one layer for each sentence; `weighted` draws by `weights`; `last-k` draws among the last k.
    """

    def __init__(
        self,
        student: Encoder,
        *,
        pooling: str = "max",
        layers: Sequence[int] | None = None,
        sampler: str = "all",
        weights: Sequence[float] | None = None,
        k: int | None = None,
        dropout: bool = False,
    ) -> None:
        super().__init__(dropout=dropout)
        self.backbone = copy.deepcopy(student.backbone)
        self.pool = TokenPooling(self.backbone.dim, pooling)
        there = range(self.backbone.layers + 1)
        self.layers = tuple(there if layers is None else layers)
        if not self.layers or not set(self.layers) <= set(there):
            raise IsotropeError(f"guide.layers {list(self.layers)}: this encoder's layers are 0 to {there[-1]}")
        self.sampler = sampler
        self.weights = self._weights(weights, k)
        self.keep_frozen()

    @property
    def frozen(self) -> tuple[nn.Module, ...]:
        """The whole copy."""
        return (self.backbone,)

    @torch.no_grad()
    def forward(self, batch: Batch, student: Encoder, view: EmbeddingView | None = None) -> Tensor:
        """(sentences, layers, dim), or (sentences, dim) where the sampler chooses."""
        states = self.backbone.hidden_states(batch, view)
        pooled = []
        for layer in self.layers:
            tokens, mask = batch.unpack(states[layer])
            pooled.append(self.pool({"token_embeddings": tokens, "attention_mask": mask})["sentence_embedding"])
        h = torch.stack(pooled, dim=1)  # (sentences, layers, dim)
        if self.weights is None:
            return h
        chosen = torch.multinomial(self.weights, len(h), replacement=True).to(h.device)
        return h[torch.arange(len(h), device=h.device), chosen]

    def _weights(self, weights: Sequence[float] | None, k: int | None) -> Tensor | None:
        n = len(self.layers)
        if self.sampler == "all":
            return None
        if self.sampler == "weighted":
            if weights is None or len(weights) != n:
                raise IsotropeError(f"guide.sampler 'weighted' needs guide.weights, one for each of the {n} layers")
            return torch.tensor(weights, dtype=torch.float)
        if self.sampler == "last-k":
            if k is None or not 1 <= k <= n:
                raise IsotropeError(f"guide.sampler 'last-k' needs guide.k between 1 and {n}")
            return torch.tensor([0.0] * (n - k) + [1.0] * k)
        return torch.ones(n)
