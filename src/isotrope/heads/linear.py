"""A single linear layer: the plainest projection or predictor."""

from __future__ import annotations

from typing import Literal

from torch import nn

from isotrope.heads.base import HeadSpec


class Linear(HeadSpec):
    """One layer without an activation, as wide as what goes in unless the other side decides."""

    kind: Literal["linear"] = "linear"
    bias: bool = True

    def build(self, dim: int, out: int, std: float) -> nn.Module:
        """One layer."""
        return nn.Linear(dim, out, bias=self.bias)
