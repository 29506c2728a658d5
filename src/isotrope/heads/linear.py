"""A single linear layer: the plainest projection or predictor."""

from __future__ import annotations

from typing import Literal

from pydantic import Field
from torch import nn

from isotrope.heads.base import HeadSpec


class Linear(HeadSpec):
    """`ratio` x the encoder's width, without an activation."""

    kind: Literal["linear"] = "linear"
    ratio: float = Field(default=1, gt=0, le=1000)
    bias: bool = True

    def width(self, dim: int) -> int:
        """`ratio` x dim."""
        return max(1, round(self.ratio * dim))

    def build(self, dim: int, out: int, std: float) -> nn.Module:
        """One layer."""
        return nn.Linear(dim, out, bias=self.bias)
