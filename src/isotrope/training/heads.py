"""Networks that stand behind the pooling while learning and are dropped after."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn


def projection_head(dim: int, *, ratio: float, layers: int, std: float) -> nn.Sequential:
    """f of paper 1: linear layers of `ratio` x dim (4,096 for BERT-base), each followed by GELU.

    Weights N(0, std), biases 0, as in the published code.
    """
    hidden = round(ratio * dim)
    parts: list[nn.Module] = []
    for k in range(layers):
        linear = nn.Linear(dim if k == 0 else hidden, hidden)
        nn.init.normal_(linear.weight, std=std)
        nn.init.zeros_(linear.bias)
        parts += [linear, nn.GELU()]
    return nn.Sequential(*parts)


def predictor_head(dim: int, out: int, *, ratio: float, blocks: int, norm: str) -> nn.Sequential:
    """p of paper 3: three linear layers, k d, k d, d, with batch norm and ReLU on the inner ones.

    The published code stacks three such blocks and normalises behind the first layer of each only (`norm` "first").
    """
    hidden = round(ratio * dim)
    parts: list[nn.Module] = []
    for k in range(blocks):
        parts += [nn.Linear(dim, hidden), nn.BatchNorm1d(hidden), nn.ReLU(), nn.Linear(hidden, hidden)]
        parts += [nn.BatchNorm1d(hidden)] if norm == "inner" else []
        parts += [nn.ReLU(), nn.Linear(hidden, out if k == blocks - 1 else dim)]
    return nn.Sequential(*parts)


class Temperature(nn.Module):
    """A fixed number, or a learnt one on a log scale and no lower than `LOWEST` (CLIP; "parameter 1" of paper 4)."""

    LOWEST = 0.01

    def __init__(self, initial: float, *, learnable: bool) -> None:
        super().__init__()
        self.log = nn.Parameter(torch.tensor(initial).log(), requires_grad=learnable)
        self.initial = initial

    def forward(self) -> Tensor | float:
        """The temperature."""
        return self.log.exp() if self.log.requires_grad else self.initial

    @torch.no_grad()
    def clamp(self) -> None:
        """Called after each step."""
        if self.log.requires_grad:
            self.log.clamp_(min=torch.tensor(self.LOWEST).log().item())


def set_dropout(model: nn.Module, rate: float) -> None:
    """Dropout of every layer, attention included. The configuration, and so what is saved, keeps its own."""
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = rate
        names: Sequence[str] = [name for name, value in vars(module).items() if isinstance(value, float)]
        for name in names:
            if name.endswith(("dropout", "dropout_prob")):
                setattr(module, name, rate)
