"""ListMLE: the whole order, by the teacher's similarities (RankCSE, Liu et al. 2023; Xia et al. 2008)."""

from __future__ import annotations

from typing import Literal

from torch import Tensor

from isotrope.objectives.distillation.ranking import Ranking, others


class ListMLE(Ranking):
    """Likelihood of the teacher's order of all others."""

    kind: Literal["listmle"] = "listmle"

    def rank(self, student: Tensor, teacher: Tensor) -> Tensor:
        """`listmle`."""
        return listmle(student, teacher, self.temperature)


def listmle(student: Tensor, teacher: Tensor, temperature: float) -> Tensor:
    """L_ListMLE = -(1/n) Σ_i log Π_j ( exp(S_π(j) / τ2) / Σ_{k≥j} exp(S_π(k) / τ2) ). Both (n, n).

    π is the order of the other sentences by T(x_i), the nearest first; of equals the earlier one.
    """
    order = others(teacher).argsort(dim=1, descending=True, stable=True)
    ranked = others(student).gather(1, order) / temperature
    behind = ranked.flip(1).logcumsumexp(dim=1).flip(1)  # log Σ_{k≥j}
    return (behind - ranked).sum(dim=1).mean()
