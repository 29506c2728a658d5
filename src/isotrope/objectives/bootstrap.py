"""Bootstrapped sentence learning: predict the target network's vector of the other view (paper 3); no negatives."""

from __future__ import annotations

from typing import Any, Literal

from torch import Tensor

from isotrope.objectives.base import Weighted
from isotrope.objectives.similarity import unit


class Bootstrap(Weighted):
    """Equation 1 of paper 3: no negatives, no temperature. `views.symmetric` gives equation 2."""

    kind: Literal["bootstrap"] = "bootstrap"

    def __call__(
        self,
        c: Tensor,
        h: Tensor,
        state: Any,
        *,
        queue: Tensor | None,
        hard: Tensor | None,
        left_out: Tensor | None = None,
    ) -> Tensor:
        """`bootstrap`."""
        return bootstrap(c, h)


def bootstrap(prediction: Tensor, target: Tensor) -> Tensor:
    """D of paper 3, equation 1, mean over n. Both (n, d).

        D(z, h) = -<z / ‖z‖, h / ‖h‖>

    `prediction` is z, from the online network and its predictor; `target` is h, from the target network, and gets no
    gradient.
    """
    return -(unit(prediction) * unit(target.detach())).sum(dim=-1).mean()


def symmetric_bootstrap(z1: Tensor, h2: Tensor, z2: Tensor, h1: Tensor) -> Tensor:
    """L of paper 3, equation 2: ½ D(z1, h2) + ½ D(z2, h1). z from the online, h from the target network, each (n, d).

    The published code has (2 - 2cos) + (2 - 2cos), which is 4 + 4 L: a weight of 4 gives its gradient.
    """
    return 0.5 * bootstrap(z1, h2) + 0.5 * bootstrap(z2, h1)
