"""BERT_F of paper 1: the student as it was before training, which shows its layers."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Literal

import torch
from pydantic import Field, model_validator
from torch import Tensor, nn

from isotrope.encoders.pieces import in_pieces
from isotrope.guides.base import Guide, GuideSpec, LoadTeacher
from isotrope.io.errors import IsotropeError

if TYPE_CHECKING:
    from isotrope.encoders import Encoder
    from isotrope.encoders.backbone import Backbone, EmbeddingView
    from isotrope.encoders.packing import Batch


class FrozenLayersSpec(GuideSpec):
    """h_i,k = p(H_i,k): one pooled vector of every layer (paper 1, section 3.1), of which sigma may choose one.

    `layers` counts from 0, the embeddings; `first_layer` is one, and all above it; below 0 both count from the end, -1
    is the last. Without either it is all. `sampler`: `all` gives every layer's vector, (n, layers, dim); `uniform`
    draws one layer for each sentence; `weighted` draws by `weights`; `last-k` draws among the last `k`.
    """

    kind: Literal["frozen-layers"] = "frozen-layers"
    pooling: Literal["max", "mean", "cls"] = "max"
    layers: tuple[int, ...] | None = Field(default=None, min_length=1)
    first_layer: int | None = None
    sampler: Literal["all", "uniform", "weighted", "last-k"] = "all"
    weights: tuple[float, ...] | None = None
    k: int | None = Field(default=None, ge=1)
    dropout: bool = False  # the published code leaves it on

    @model_validator(mode="after")
    def _belongs_to_the_sampler(self) -> FrozenLayersSpec:
        for key, sampler in (("weights", "weighted"), ("k", "last-k")):
            if (getattr(self, key) is not None) != (self.sampler == sampler):
                raise ValueError(f"sampler '{sampler}' and {key} belong together; give both or neither")
        if self.layers is not None and self.first_layer is not None:
            raise ValueError("layers and first_layer are both given; leave out one of them")
        if self.weights is not None and (min(self.weights) < 0 or sum(self.weights) == 0):
            raise ValueError("weights are shares: none below 0, and not all of them 0")
        return self

    @property
    def layered(self) -> bool:
        """Every layer's vector, unless the sampler chooses one."""
        return self.sampler == "all"

    def build(self, student: Encoder, load: LoadTeacher) -> Guide:
        """A frozen copy of the student's backbone."""
        return FrozenLayers(student, self)


class FrozenLayers(Guide):
    """A frozen copy that shows its layers."""

    def __init__(self, student: Encoder, spec: FrozenLayersSpec) -> None:
        from sentence_transformers.sentence_transformer.modules import Pooling as TokenPooling

        super().__init__(student.backbone.dim, dropout=spec.dropout)
        self.backbone = copy.deepcopy(student.backbone)
        self.pool = TokenPooling(self.dim, spec.pooling)
        self.layers = _layers(spec, self.backbone.layers + 1)
        self.shares = self._shares(spec)
        self.keep_frozen()

    @property
    def frozen(self) -> tuple[nn.Module, ...]:
        """The whole copy."""
        return (self.backbone,)

    @property
    def origin(self) -> Backbone:
        """The copy is what the student began as."""
        return self.backbone

    @torch.no_grad()
    def forward(self, batch: Batch, student: Encoder, view: EmbeddingView | None = None) -> Tensor:
        """(sentences, layers, dim), or (sentences, dim) where the sampler chooses."""
        h = in_pieces(self._vectors, batch, view, self.backbone)  # (sentences, layers, dim)
        if self.shares is None:
            return h
        chosen = torch.multinomial(self.shares, len(h), replacement=True).to(h.device)
        return h[torch.arange(len(h), device=h.device), chosen]

    def _vectors(self, batch: Batch, view: EmbeddingView | None) -> Tensor:
        """(sentences, layers, dim)."""
        states = self.backbone.hidden_states(batch, view)
        pooled = []
        for layer in self.layers:
            tokens, mask = batch.unpack(states[layer])
            pooled.append(self.pool({"token_embeddings": tokens, "attention_mask": mask})["sentence_embedding"])
        return torch.stack(pooled, dim=1)

    def _shares(self, spec: FrozenLayersSpec) -> Tensor | None:
        """How likely each layer is drawn; None where all are shown."""
        n = len(self.layers)
        if spec.layered:
            return None
        if spec.weights is not None and len(spec.weights) != n:
            raise IsotropeError(f"guide.weights has {len(spec.weights)} numbers; this encoder's guide has {n} layers")
        if spec.k is not None and spec.k > n:
            raise IsotropeError(f"guide.k {spec.k}: this encoder's guide has {n} layers")
        drawn = [0.0] * (n - spec.k) + [1.0] * spec.k if spec.k else [1.0] * n
        return torch.tensor(spec.weights or drawn, dtype=torch.float)


def _layers(spec: FrozenLayersSpec, count: int) -> tuple[int, ...]:
    """The layers that are shown, of `count` with the embeddings."""
    key, given = ("layers", spec.layers) if spec.first_layer is None else ("first_layer", (spec.first_layer,))
    if given is None:
        return tuple(range(count))
    if not all(-count <= layer < count for layer in given):
        asked = list(given) if key == "layers" else given[0]
        raise IsotropeError(f"guide.{key} {asked}: this encoder's layers are 0 to {count - 1}")
    found = tuple(layer % count for layer in given)
    return found if key == "layers" else tuple(range(found[0], count))
