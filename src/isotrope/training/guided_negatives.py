"""Guided negatives of a run: which are left out of the denominator, those of the queue among them."""

from __future__ import annotations

from torch import Tensor, nn

from isotrope.heads.queue import MemoryQueue
from isotrope.objectives.negatives import Negatives, left_out


class GuidedNegatives(nn.Module):
    """Beside the queue of keys it keeps one of the frozen encoder's vectors, row for row."""

    def __init__(self, spec: Negatives, dim: int, queue_size: int) -> None:
        super().__init__()
        self.spec = spec
        self.queue = MemoryQueue(queue_size, dim) if queue_size else None

    def forward(self, first: Tensor, second: Tensor, hard: Tensor | None, layers: int) -> Tensor:
        """`left_out` of the frozen encoder's vectors of both texts and of hard negatives, (n, dim) each.

        `layers` is how many vectors the guide has of each text.
        """
        further = [] if hard is None else [hard.repeat_interleave(layers, dim=0)]
        further += [] if self.queue is None else [self.queue().to(first.dtype)]
        spec = self.spec
        return left_out(first, second, further, margin=spec.margin, threshold=spec.threshold, layers=layers)

    def remember(self, second: Tensor, layers: int) -> None:
        """The vectors of what goes into the queue of keys."""
        if self.queue is not None:
            self.queue.remember(second.repeat_interleave(layers, dim=0))

    def after_step(self) -> None:
        """Called after each step of the optimiser."""
        if self.queue is not None:
            self.queue.after_step()
