"""The optimisers of the papers and of their published codes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Adam, AdamW, Optimizer


class UncorrectedAdamW(Optimizer):
    """AdamW without bias correction, as in BERT's first code and ConSERT's (transformers' AdamW, `correct_bias` off).

        m <- β1 m + (1 - β1) g        p <- p - lr m / (√v + ε)
        v <- β2 v + (1 - β2) g²       p <- p - lr decay p

    m and v begin at 0 and are taken as they are, so the first steps are longer: (1 - β1) / √(1 - β2) of the rate.
    """

    def __init__(self, params: Iterable[Any], lr: float, betas: tuple[float, float], eps: float) -> None:
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": 0.0})

    @torch.no_grad()
    def step(self, closure: Any = None) -> Any:
        """One step; a closure computes the loss, which is then returned, and the gradients anew."""
        with torch.enable_grad():
            loss = None if closure is None else closure()
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    self._move(parameter, parameter.grad, group)
        return loss

    def _move(self, parameter: Tensor, gradient: Tensor, group: dict[str, Any]) -> None:
        state = self.state[parameter]
        if not state:
            state["m"], state["v"] = torch.zeros_like(parameter), torch.zeros_like(parameter)
        beta1, beta2 = group["betas"]
        m = state["m"].lerp_(gradient, 1 - beta1)
        v = state["v"].mul_(beta2).addcmul_(gradient, gradient, value=1 - beta2)
        parameter.addcdiv_(m, v.sqrt().add_(group["eps"]), value=-group["lr"])
        parameter.mul_(1 - group["lr"] * group["weight_decay"])


def decayed_and_exempt(
    model: nn.Module, weight_decay: float, apart: nn.Module | None = None, rate: float | None = None
) -> list[dict[str, Any]]:
    """All that learns, in two groups. Weight decay is for matrices: biases, norms and the temperature are exempt.

    What `apart`, a part of the model, trains is a group of its own where it has a learning rate of its own, `rate`.
    """
    learning = [parameter for parameter in model.parameters() if parameter.requires_grad]
    if apart is not None and rate is not None:
        own = [parameter for parameter in apart.parameters() if parameter.requires_grad]
        theirs = set(map(id, own))
        learning = [parameter for parameter in learning if id(parameter) not in theirs]
        return [*_groups(learning, weight_decay), {"params": own, "weight_decay": 0.0, "lr": rate}]
    return _groups(learning, weight_decay)


def _groups(learning: list[nn.Parameter], weight_decay: float) -> list[dict[str, Any]]:
    return [
        {"params": [p for p in learning if p.dim() > 1], "weight_decay": weight_decay},
        {"params": [p for p in learning if p.dim() <= 1], "weight_decay": 0.0},
    ]


OPTIMISERS: dict[str, Callable[..., Optimizer]] = {  # fused: one pass over each weight and its momenta, not twelve
    "adam": partial(Adam, fused=True),
    "adamw": partial(AdamW, fused=True),
    "adamw-uncorrected": UncorrectedAdamW,
}
