"""From a recipe's objective to the function that computes it."""

from __future__ import annotations

from torch import Tensor

from isotrope.objectives import bootstrap, info_nce, nt_xent, self_guided
from isotrope.recipes.schema import Objective


def compare(
    objective: Objective,
    c: Tensor,
    h: Tensor,
    temperature: Tensor | float,
    *,
    queue: Tensor | None = None,
    hard: Tensor | None = None,
) -> Tensor:
    """The student's vectors `c` (n, dim) against the guide's `h`, (n, dim) or (n, layers, dim)."""
    return {
        "nt-xent": lambda: nt_xent(c, h, temperature),
        "self-guided": lambda: self_guided(c, h, temperature, objective.variant),
        "bootstrap": lambda: bootstrap(c, h),
        "info-nce": lambda: info_nce(c, h, temperature, queue=queue, hard_negatives=hard),
    }[objective.kind]()
