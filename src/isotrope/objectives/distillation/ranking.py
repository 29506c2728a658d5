"""How the teacher ranks the other sentences of the batch, the student should (RankCSE, Liu et al. 2023, 2305.16726).

    S(x_i) = { cos(f(x_i), f(x_j)') }_{j≠i}        f, f' under two draws of dropout
    T(x_i) = a { cos(t1(x_i), t1(x_j)) }_{j≠i} + (1 - a) { cos(t2(x_i), t2(x_j)) }_{j≠i}

A sentence is not in its own list: at the teacher's temperature, nearly all probability would be its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import torch
from pydantic import Field, model_validator
from torch import Tensor

from isotrope.objectives.distillation.base import FromTeachers, Vectors
from isotrope.objectives.similarity import cosine


class Ranking(FromTeachers):
    """`temperature` is τ2, of the student's similarities.

    `consistency` is β, the weight of ranking consistency: the lists of a sentence's two views should rank the others
    alike. Its temperature τ1 is `consistency_temperature`; None is 0.05.
    """

    temperature: float = Field(default=0.05, gt=0)
    consistency: float = Field(default=0.0, ge=0)
    consistency_temperature: float | None = Field(default=None, gt=0)
    reads_second: ClassVar[bool] = True

    @model_validator(mode="after")
    def _belongs_to_consistency(self) -> Ranking:
        if self.consistency_temperature is not None and not self.consistency:
            raise ValueError("consistency_temperature has no effect while consistency is 0; set both or neither")
        return self

    @property
    def needs_two_views(self) -> bool:
        """For consistency."""
        return self.consistency > 0

    def __call__(self, student: Vectors, teachers: Sequence[Vectors]) -> dict[str, Tensor]:
        """The teachers' ranking, and beside it the consistency of the two views."""
        parts = super().__call__(student, teachers)
        if self.consistency:
            lists = cosine(student.first, student.second)
            temperature = self.consistency_temperature or 0.05
            parts["consistency"] = self.consistency * ranking_consistency(lists, lists.T, temperature)
        return parts

    def loss(self, student: Vectors, teachers: Sequence[Vectors]) -> Tensor:
        """Of the first texts against the second."""
        wanted = self.mean([cosine(teacher.first, teacher.second) for teacher in teachers])
        return self.rank(cosine(student.first, student.second), wanted)

    def rank(self, student: Tensor, teacher: Tensor) -> Tensor:
        """Of lists of similarities, (n, n)."""
        raise NotImplementedError


def ranking_consistency(one: Tensor, other: Tensor, temperature: float) -> Tensor:
    """L_consistency = (1/n) Σ_i JS( softmax(S(x_i) / τ1) ‖ softmax(S(x_i)' / τ1) ), over j≠i. Both (n, n)."""
    p, q = ((others(lists) / temperature).log_softmax(dim=1) for lists in (one, other))
    middle = torch.logaddexp(p, q) - torch.log(torch.tensor(2.0, dtype=p.dtype, device=p.device))
    divergence = p.exp() * (p - middle) + q.exp() * (q - middle)
    return 0.5 * divergence.sum(dim=1).mean()


def others(lists: Tensor) -> Tensor:
    """(n, n) -> (n, n - 1): each row without what stands on the diagonal."""
    n = len(lists)
    return lists.flatten()[:-1].view(n - 1, n + 1)[:, 1:].reshape(n, n - 1)
