"""f of paper 1, on both sides."""

from __future__ import annotations

from itertools import pairwise
from typing import Literal

from pydantic import Field
from torch import nn

from isotrope.heads.base import SizedHead


class Projection(SizedHead):
    """Linear layers, 4,096 wide whatever the encoder's width, each followed by GELU (footnote 4).

    Weights N(0, std), biases 0, as in the published code.
    """

    kind: Literal["projection"] = "projection"
    layers: int = Field(default=2, ge=1)

    def usual_width(self, dim: int) -> int:
        """The paper's "hidden size"."""
        return 4096

    def own_width(self, dim: int) -> int:
        """All its layers are alike."""
        return self.inner_width(dim)

    def build(self, dim: int, out: int, std: float) -> nn.Module:
        """Its layers; only the last of them is `out` wide where that is not its own width."""
        widths = [dim, *[self.inner_width(dim)] * (self.layers - 1), out]
        parts: list[nn.Module] = []
        for before, after in pairwise(widths):
            linear = nn.Linear(before, after)
            nn.init.normal_(linear.weight, std=std)
            nn.init.zeros_(linear.bias)
            parts += [linear, nn.GELU()]
        return nn.Sequential(*parts)
