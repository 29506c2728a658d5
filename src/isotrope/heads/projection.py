"""f of paper 1, on both sides."""

from __future__ import annotations

from itertools import pairwise
from typing import Literal

from pydantic import Field
from torch import nn

from isotrope.heads.base import HeadSpec


class Projection(HeadSpec):
    """Linear layers of `ratio` x the encoder's width (4,096 for BERT-base), each followed by GELU (footnote 4).

    Weights N(0, std), biases 0, as in the published code.
    """

    kind: Literal["projection"] = "projection"
    ratio: float = Field(default=16 / 3, gt=0, le=1000)
    layers: int = Field(default=2, ge=1)

    def width(self, dim: int) -> int:
        """That of its layers."""
        return max(1, round(self.ratio * dim))

    def build(self, dim: int, out: int, std: float) -> nn.Module:
        """Its layers; only the last of them is `out` wide where that is not its own width."""
        widths = [dim, *[self.width(dim)] * (self.layers - 1), out]
        parts: list[nn.Module] = []
        for before, after in pairwise(widths):
            linear = nn.Linear(before, after)
            nn.init.normal_(linear.weight, std=std)
            nn.init.zeros_(linear.bias)
            parts += [linear, nn.GELU()]
        return nn.Sequential(*parts)
