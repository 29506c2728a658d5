"""The teacher's vectors themselves are what the student should give (Reimers & Gurevych 2020, arXiv 2004.09813)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from torch import Tensor
from torch.nn.functional import mse_loss

from isotrope.objectives.distillation.base import FromTeachers, Vectors, same_width
from isotrope.objectives.similarity import in_full, unit


class VectorsOfTeacher(FromTeachers):
    """`distance` is 1 - cosine, or the mean squared error of the numbers, as Reimers & Gurevych have it."""

    kind: Literal["vectors"] = "vectors"
    distance: Literal["cosine", "mse"] = "cosine"

    def check_widths(self, student: int, teachers: Sequence[int]) -> None:
        """All must be equally wide."""
        same_width(student, teachers, self.teachers)

    def loss(self, student: Vectors, teachers: Sequence[Vectors]) -> Tensor:
        """Of the first texts."""
        distance = DISTANCES[self.distance]
        return self.mean([distance(student.first, teacher.first) for teacher in teachers])


def vector_cosine(student: Tensor, teacher: Tensor) -> Tensor:
    """(1/n) Σ_i (1 - cos(s_i, t_i)). Both (n, d)."""
    return 1 - (unit(student) * unit(teacher)).sum(dim=-1).mean()


def vector_mse(student: Tensor, teacher: Tensor) -> Tensor:
    """(1/n) Σ_i (1/d) ‖s_i - t_i‖². Both (n, d)."""
    return mse_loss(in_full(student), in_full(teacher))


DISTANCES = {"cosine": vector_cosine, "mse": vector_mse}
