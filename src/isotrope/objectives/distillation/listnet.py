"""ListNet: who comes first, by the teacher's probabilities (RankCSE, Liu et al. 2023; Cao et al. 2007)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field
from torch import Tensor

from isotrope.objectives.distillation.ranking import Ranking, others


class ListNet(Ranking):
    """Cross-entropy of the two distributions of who comes first. `teacher_temperature` is τ3."""

    kind: Literal["listnet"] = "listnet"
    teacher_temperature: float = Field(default=0.025, gt=0)

    def rank(self, student: Tensor, teacher: Tensor) -> Tensor:
        """`listnet`."""
        return listnet(student, teacher, self.temperature, self.teacher_temperature)


def listnet(student: Tensor, teacher: Tensor, temperature: float, teacher_temperature: float) -> Tensor:
    """L_ListNet = -(1/n) Σ_i Σ_{j≠i} softmax_j( T(x_i) / τ3 ) log softmax_j( S(x_i) / τ2 ). Both (n, n)."""
    wanted = (others(teacher) / teacher_temperature).softmax(dim=1)
    return -(wanted * (others(student) / temperature).log_softmax(dim=1)).sum(dim=1).mean()
