"""p of paper 3, on the student's side."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field
from torch import nn

from isotrope.heads.base import SizedHead


class Predictor(SizedHead):
    """`blocks` networks of three linear layers, k d, k d, d, with batch norm and ReLU on the inner ones; k is 8.

    The published code stacks three such blocks and normalises behind the first layer of each only (`norm` "first").
    """

    kind: Literal["predictor"] = "predictor"
    blocks: int = Field(default=1, ge=1)
    norm: Literal["inner", "first"] = "inner"
    over_the_batch: ClassVar[bool] = True

    def usual_width(self, dim: int) -> int:
        """The paper's k is 8."""
        return 8 * dim

    def build(self, dim: int, out: int, std: float) -> nn.Module:
        """The blocks; only the last layer of all is `out` wide."""
        hidden = self.inner_width(dim)
        parts: list[nn.Module] = []
        for k in range(self.blocks):
            parts += [nn.Linear(dim, hidden), nn.BatchNorm1d(hidden), nn.ReLU(), nn.Linear(hidden, hidden)]
            parts += [nn.BatchNorm1d(hidden)] if self.norm == "inner" else []
            parts += [nn.ReLU(), nn.Linear(hidden, out if k == self.blocks - 1 else dim)]
        return nn.Sequential(*parts)
