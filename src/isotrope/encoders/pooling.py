"""Pooling: which layers' token vectors become the sentence vector, and how.

Names: `cls`, `mean`, `max`; `last2` (mean over tokens of the mean of the last two layers); `first-last` (the same of
the first and the last layer). `@k` behind any of them counts layer k as the last one (`mean@2`; layer 0 is the
embeddings).
`cls-mlp` sends [CLS] through a dense layer with tanh: BERT's own pooler where the checkpoint has one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import torch
from pydantic import AfterValidator
from torch import Tensor

from isotrope.io.errors import IsotropeError, nearest

OWN = "own"  # in a recipe: as the encoder was saved
# sentence-transformers' name of the reduction over tokens, for each of ours
REDUCTIONS = {"cls": "cls", "cls-mlp": "cls", "mean": "mean", "max": "max", "last2": "mean", "first-last": "mean"}
# further reductions that a sentence-transformers folder may ask for; kept as they are
FOREIGN = ("mean_sqrt_len_tokens", "weightedmean", "lasttoken")


@dataclass(frozen=True)
class Pooling:
    """A pooling by name, at a layer; `layer` None is the last."""

    mode: str = "mean"
    layer: int | None = None

    @classmethod
    def parse(cls, text: str) -> Pooling:
        """`"mean"`, `"cls@3"` ... -> Pooling."""
        mode, at, layer = text.partition("@")
        if mode not in REDUCTIONS and not set(mode.split("+")) <= {"cls", "max", "mean", *FOREIGN}:
            raise IsotropeError(
                f"unknown pooling '{text}'{nearest(mode, REDUCTIONS)}; choose from {', '.join(REDUCTIONS)}, "
                "each also at a layer, as in mean@2"
            )
        if at and not layer.isdecimal():
            raise IsotropeError(f"pooling '{text}': what follows @ must be a layer number")
        return cls(mode, int(layer) if at else None)

    def __str__(self) -> str:
        """The name that `parse` takes."""
        return self.mode if self.layer is None else f"{self.mode}@{self.layer}"

    @property
    def reduction(self) -> str | tuple[str, ...]:
        """What sentence-transformers' Pooling module is told."""
        return REDUCTIONS[self.mode] if self.mode in REDUCTIONS else tuple(self.mode.split("+"))

    def resolve(self, layers: int) -> Pooling:
        """Checked against a backbone of `layers` layers; naming the last one is the same as naming none."""
        least = 1 if self.mode in ("last2", "first-last") else 0
        if self.layer is not None and not least <= self.layer <= layers:
            raise IsotropeError(f"pooling '{self}': this encoder's layers are {least} to {layers}")
        return replace(self, layer=None if self.layer == layers else self.layer)

    def mixed_layers(self, layers: int) -> tuple[int, ...]:
        """The layers whose plain mean is pooled, in a backbone of `layers` layers."""
        last = layers if self.layer is None else self.layer
        return {"last2": (last - 1, last), "first-last": (1, last)}.get(self.mode, (last,))


def _spelt(name: str) -> str:
    try:
        return name if name == OWN else str(Pooling.parse(name))
    except IsotropeError as error:
        raise ValueError(str(error)) from error


PoolingName = Annotated[str, AfterValidator(_spelt)]  # in a recipe


def mix(hidden_states: Sequence[Tensor], layers: Sequence[int]) -> Tensor:
    """Mean of the named layers, (..., dim)."""
    if len(layers) == 1:
        return hidden_states[layers[0]]
    return torch.stack([hidden_states[layer] for layer in layers]).mean(0)
