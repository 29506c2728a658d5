"""How alike the sentences of a batch are for the teacher, they should be for the student.

Similarity-preserving distillation (Tung & Mori 2019, arXiv 1907.09682), with cosines.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor

from isotrope.objectives.distillation.base import FromTeachers, Vectors
from isotrope.objectives.similarity import cosine


class Similarities(FromTeachers):
    """Works for teachers of any width; of two, their similarities are averaged."""

    kind: Literal["similarities"] = "similarities"

    def loss(self, student: Vectors, teachers: Sequence[Vectors]) -> Tensor:
        """Of the first texts."""
        wanted = self.mean([cosine(teacher.first, teacher.first) for teacher in teachers])
        return similarity_error(cosine(student.first, student.first), wanted)


def similarity_error(student: Tensor, teacher: Tensor) -> Tensor:
    """1/(n(n-1)) Σ_i Σ_{j≠i} (S_ij - T_ij)². Both (n, n), the cosines of every sentence with every other."""
    n = len(student)
    others = ~torch.eye(n, dtype=torch.bool, device=student.device)
    return (student - teacher)[others].square().sum() / max(n * (n - 1), 1)  # a last batch of one has no others
