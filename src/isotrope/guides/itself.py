"""The student as its own guide (ConSERT, SimCSE)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Literal

from torch import Tensor

from isotrope.guides.base import Guide, GuideSpec, LoadTeacher
from isotrope.views.embedding.beside import Seen, in_one_pass

if TYPE_CHECKING:
    from isotrope.encoders import Encoder
    from isotrope.encoders.backbone import EmbeddingView
    from isotrope.encoders.packing import Batch


class ItselfSpec(GuideSpec):
    """Both views are encoded by the same weights, and both learn."""

    kind: Literal["self"] = "self"
    is_student: ClassVar[bool] = True

    def build(self, student: Encoder, load: LoadTeacher) -> Guide:
        """Needs nothing but the student's width."""
        return Itself(student.dim)


class Itself(Guide):
    """The student is its own guide."""

    def forward(self, batch: Batch, student: Encoder, view: EmbeddingView | None = None) -> Tensor:
        """(sentences, dim), with gradient."""
        vectors: Tensor = student(batch, view)
        return vectors

    def encode(self, student: Encoder, mine: Sequence[Seen], theirs: Sequence[Seen]) -> tuple[list[Tensor], ...]:
        """All of them in one pass."""
        return by_the_student(student, mine, theirs)


def by_the_student(student: Encoder, mine: Sequence[Seen], theirs: Sequence[Seen]) -> tuple[list[Tensor], ...]:
    """All of them in one pass. Where both ways round are asked for, a view is encoded once and serves for both."""
    several = list({id(one): one for one in (*mine, *theirs)}.values())
    vectors = dict(zip(map(id, several), in_one_pass(student, several), strict=True))
    return [vectors[id(one)] for one in mine], [vectors[id(one)] for one in theirs]
