"""f_xi of paper 3: a copy of the student that follows it slowly."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar, Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from isotrope.guides.base import Guide, GuideSpec, LoadTeacher

if TYPE_CHECKING:
    from isotrope.encoders import Encoder
    from isotrope.encoders.backbone import EmbeddingView
    from isotrope.encoders.packing import Batch


class MomentumSpec(GuideSpec):
    """xi <- delta xi + (1 - delta) theta after each step (paper 3, equation 4).

    `schedule` "cosine" lets delta rise from `momentum` to 1 over the run (BYOL). Floating-point buffers are averaged
    with the parameters unless `buffers` is off.
    """

    kind: Literal["momentum"] = "momentum"
    momentum: float = Field(default=0.999, ge=0, le=1)
    schedule: Literal["constant", "cosine"] = "constant"
    buffers: bool = True
    dropout: bool = False  # the published code leaves it on
    follows: ClassVar[bool] = True

    def build(self, student: Encoder, load: LoadTeacher) -> Guide:
        """A copy of the student."""
        return Momentum(student, self)


class Momentum(Guide):
    """The target network: it moves, but by averaging alone."""

    def __init__(self, student: Encoder, spec: MomentumSpec) -> None:
        super().__init__(student.dim, dropout=spec.dropout)
        self.target = student.copied()
        self.spec = spec
        self.keep_frozen()

    @property
    def frozen(self) -> tuple[nn.Module, ...]:
        """The target network."""
        return (self.target,)

    @torch.no_grad()
    def forward(self, batch: Batch, student: Encoder, view: EmbeddingView | None = None) -> Tensor:
        """(sentences, dim), without gradient."""
        vectors: Tensor = self.target(batch, view)
        return vectors

    @torch.no_grad()
    def follow(self, copied: nn.Module, original: nn.Module, progress: float) -> None:
        """Equation 4."""
        delta = self.spec.momentum
        if self.spec.schedule == "cosine":
            delta = 1 - (1 - delta) * (math.cos(math.pi * progress) + 1) / 2
        for mine, theirs in zip(copied.parameters(), original.parameters(), strict=True):
            mine.lerp_(theirs, 1 - delta)
        if self.spec.buffers:
            for old, new in zip(copied.buffers(), original.buffers(), strict=True):
                old.lerp_(new, 1 - delta) if old.is_floating_point() else old.copy_(new)

    def after_step(self, student: Encoder, progress: float) -> None:
        """Moves the target towards the student."""
        self.follow(self.target, student, progress)
