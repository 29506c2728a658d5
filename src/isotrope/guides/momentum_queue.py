"""The student as its own guide, with a momentum copy for the queue alone (ESimCSE, Wu et al. 2022, section 3.2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Literal

import torch
from pydantic import Field
from torch import Tensor

from isotrope.guides.base import Guide, GuideSpec, LoadTeacher
from isotrope.guides.itself import by_the_student
from isotrope.guides.momentum import Momentum, MomentumSpec
from isotrope.views.embedding.beside import Seen

if TYPE_CHECKING:
    from isotrope.encoders import Encoder
    from isotrope.encoders.backbone import EmbeddingView
    from isotrope.encoders.packing import Batch


class MomentumQueueSpec(GuideSpec):
    """Both views are encoded by the student, and both learn. The queue has the first text, encoded by a copy that
    follows the student: theta_m <- lambda theta_m + (1 - lambda) theta after each step, lambda being `momentum`.
    """

    kind: Literal["momentum-queue"] = "momentum-queue"
    momentum: float = Field(default=0.995, ge=0, le=1)
    schedule: Literal["constant", "cosine"] = "constant"
    dropout: bool = False
    is_student: ClassVar[bool] = True
    needs_queue: ClassVar[bool] = True

    def build(self, student: Encoder, load: LoadTeacher) -> Guide:
        """A copy of the student beside it."""
        return MomentumQueue(student, MomentumSpec(**self.settings()))


class MomentumQueue(Momentum):
    """The copy speaks through the queue alone."""

    def forward(self, batch: Batch, student: Encoder, view: EmbeddingView | None = None) -> Tensor:
        """(sentences, dim), with gradient."""
        vectors: Tensor = student(batch, view)
        return vectors

    def encode(self, student: Encoder, mine: Sequence[Seen], theirs: Sequence[Seen]) -> tuple[list[Tensor], ...]:
        """All of them in one pass."""
        return by_the_student(student, mine, theirs)

    @torch.no_grad()
    def queued(self, first: Batch) -> Tensor:
        """The first text by the copy, (sentences, dim)."""
        vectors: Tensor = self.target(first)
        return vectors
