"""f_xi of paper 3: a copy of the student that follows it slowly."""

from __future__ import annotations

import copy
import math

import torch
from torch import Tensor, nn

from isotrope.encoders import Encoder
from isotrope.encoders.backbone import EmbeddingView
from isotrope.encoders.packing import Batch
from isotrope.guides.base import Guide


class Momentum(Guide):
    """xi <- delta xi + (1 - delta) theta after each step (paper 3, equation 4).

    `schedule` "cosine" lets delta rise from `momentum` to 1 over the run (BYOL). Floating-point buffers are averaged
    with the parameters unless `buffers` is off.
    """

    def __init__(
        self,
        student: Encoder,
        *,
        momentum: float = 0.999,
        schedule: str = "constant",
        buffers: bool = True,
        dropout: bool = False,
    ) -> None:
        super().__init__(dropout=dropout)
        self.target = copy.deepcopy(student)
        self.momentum, self.schedule, self.buffers_too = momentum, schedule, buffers
        self.keep_frozen()

    @property
    def frozen(self) -> tuple[nn.Module, ...]:
        """The target network: it moves, but by averaging alone."""
        return (self.target,)

    @torch.no_grad()
    def forward(self, batch: Batch, student: Encoder, view: EmbeddingView | None = None) -> Tensor:
        """(sentences, dim), without gradient."""
        vectors: Tensor = self.target(batch, view)
        return vectors

    @torch.no_grad()
    def after_step(self, student: Encoder, progress: float) -> None:
        """Moves the target towards the student."""
        delta = self.momentum
        if self.schedule == "cosine":
            delta = 1 - (1 - delta) * (math.cos(math.pi * progress) + 1) / 2
        for mine, theirs in zip(self.target.parameters(), student.parameters(), strict=True):
            mine.lerp_(theirs, 1 - delta)
        if self.buffers_too:
            for old, new in zip(self.target.buffers(), student.buffers(), strict=True):
                old.lerp_(new, 1 - delta) if old.is_floating_point() else old.copy_(new)
