"""p of paper 3, on the student's side."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field
from torch import nn

from isotrope.heads.base import HeadSpec


class Predictor(HeadSpec):
    """`blocks` networks of three linear layers, k d, k d, d, with batch norm and ReLU on the inner ones; k is `ratio`.

    The published code stacks three such blocks and normalises behind the first layer of each only (`norm` "first").
    """

    kind: Literal["predictor"] = "predictor"
    ratio: float = Field(default=8, gt=0, le=1000)
    blocks: int = Field(default=1, ge=1)
    norm: Literal["inner", "first"] = "inner"
    over_the_batch: ClassVar[bool] = True

    def build(self, dim: int, out: int, std: float) -> nn.Module:
        """The blocks; only the last layer of all is `out` wide."""
        hidden = max(1, round(self.ratio * dim))
        parts: list[nn.Module] = []
        for k in range(self.blocks):
            parts += [nn.Linear(dim, hidden), nn.BatchNorm1d(hidden), nn.ReLU(), nn.Linear(hidden, hidden)]
            parts += [nn.BatchNorm1d(hidden)] if self.norm == "inner" else []
            parts += [nn.ReLU(), nn.Linear(hidden, out if k == self.blocks - 1 else dim)]
        return nn.Sequential(*parts)
