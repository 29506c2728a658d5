"""What every kind of distillation has in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar, NamedTuple

from pydantic import Field, model_validator
from torch import Tensor

from isotrope.encoders.frozen import START, FrozenModel
from isotrope.encoders.pooling import PoolingName
from isotrope.io.errors import IsotropeError
from isotrope.parts import Spec


class Vectors(NamedTuple):
    """What one encoder makes of a batch: (n, dim) of the first texts, and (n, dim) of the second.

    Where nothing is compared, or the guide encodes the second texts, `second` is `first` itself.
    """

    first: Tensor
    second: Tensor


class Distillation(Spec):
    """What the student learns from frozen teachers."""

    reads_second: ClassVar[bool] = False  # it reads what student and teachers make of the second texts too

    @property
    def models(self) -> tuple[FrozenModel, ...]:
        """The teachers."""
        return ()

    @property
    def needs_two_views(self) -> bool:
        """Whether it would have nothing to do if the student saw only the first view."""
        return False

    def check_widths(self, student: int, teachers: Sequence[int]) -> None:
        """Raises an `IsotropeError` where vectors of these widths can't be compared."""

    def __call__(self, student: Vectors, teachers: Sequence[Vectors]) -> dict[str, Tensor]:
        """Its parts of the loss, by their name in the log."""
        raise NotImplementedError


class FromTeachers(Distillation):
    """`teachers` are one or two encoders: "start", what the stage starts from, or names or folders.

    `teacher_pooling` is that of teachers that are bare transformers; None: as they were saved. `weight` is its share of
    the loss. `alpha` is the share of the first of two teachers; None is a half.
    """

    teachers: Annotated[tuple[str, ...], Field(min_length=1, max_length=2)] = ("start",)
    teacher_pooling: PoolingName | None = None
    weight: float = Field(default=1.0, gt=0)
    alpha: float | None = Field(default=None, gt=0, lt=1)

    label: ClassVar[str] = "distillation"  # of its part of the loss, in the log

    @model_validator(mode="after")
    def _two(self) -> FromTeachers:
        if self.alpha is not None and len(self.teachers) == 1:
            raise ValueError("alpha is the share of the first of two teachers, and there is one; leave it out")
        if self.teacher_pooling is not None and set(self.teachers) == {START}:
            raise ValueError(f"teacher_pooling has no effect: the teacher '{START}' keeps its own; leave it out")
        if len(set(self.teachers)) < len(self.teachers):
            raise ValueError(f"teachers names '{self.teachers[0]}' twice; one is enough")
        return self

    @property
    def models(self) -> tuple[FrozenModel, ...]:
        """The teachers."""
        return tuple(FrozenModel(one, None if one == START else self.teacher_pooling) for one in self.teachers)

    @property
    def shares(self) -> tuple[float, ...]:
        """Of each teacher."""
        alpha = 0.5 if self.alpha is None else self.alpha
        return (1.0,) if len(self.teachers) == 1 else (alpha, 1 - alpha)

    def __call__(self, student: Vectors, teachers: Sequence[Vectors]) -> dict[str, Tensor]:
        """`loss`, weighted."""
        return {self.label: self.weight * self.loss(student, teachers)}

    def loss(self, student: Vectors, teachers: Sequence[Vectors]) -> Tensor:
        """A scalar."""
        raise NotImplementedError

    def mean(self, figures: Sequence[Tensor]) -> Tensor:
        """Of one figure for each teacher, by their shares."""
        shared = [share * figure for share, figure in zip(self.shares, figures, strict=True)]
        return sum(shared[1:], start=shared[0])


def same_width(student: int, teachers: Sequence[int], names: Sequence[str]) -> None:
    """Raises an `IsotropeError` that names the first teacher whose vectors are wider or narrower."""
    for name, width in zip(names, teachers, strict=True):
        if width != student:
            raise IsotropeError(
                f"distillation.kind 'vectors' compares vectors of the same width: those of the teacher '{name}' have "
                f"{width} numbers, the student's {student}; give the student a dense layer of that width, or choose "
                "distillation.kind 'similarities', 'listnet' or 'listmle'"
            )
