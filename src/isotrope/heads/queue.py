"""The memory queue: keys of earlier batches as further negatives (paper 4, section 4.2; MoCo)."""

from __future__ import annotations

import torch
from pydantic import Field
from torch import Tensor, nn

from isotrope.parts import Section


class Queue(Section):
    """How many keys are remembered; 0 is none."""

    size: int = Field(default=0, ge=0, le=10**12)


class MemoryQueue(nn.Module):
    """The newest `size` keys, oldest overwritten first: the guide's vectors in the space that is compared.

    Begins empty: negatives are real vectors from the start. Persistent buffers, so a checkpoint holds it.
    """

    vectors: Tensor
    seen: Tensor

    def __init__(self, size: int, dim: int) -> None:
        super().__init__()
        self.register_buffer("vectors", torch.zeros(size, dim))
        self.register_buffer("seen", torch.zeros((), dtype=torch.long))  # how many have ever come
        self._new: list[Tensor] = []  # of this step: the queue must not change before its gradient is taken

    def forward(self) -> Tensor:
        """What is remembered, (m, dim) with m at most `size`; in no particular order."""
        return self.vectors[: int(self.seen.clamp(max=len(self.vectors)))]

    def remember(self, keys: Tensor) -> None:
        """Takes a batch's keys, (n, dim) or (n, layers, dim), into the queue after the step."""
        self._new.append(keys.detach().flatten(0, -2))

    def after_step(self) -> None:
        """The step's keys take the place of the oldest."""
        for keys in self._new:
            self.push(keys)
        self._new.clear()

    @torch.no_grad()
    def push(self, new: Tensor) -> None:
        """(n, dim): takes the place of the oldest; of more than `size` only the last stay."""
        size = len(self.vectors)
        kept = new[-size:].to(self.vectors.dtype)
        first = int(self.seen) + len(new) - len(kept)
        places = (torch.arange(len(kept), device=kept.device) + first) % size
        self.vectors[places] = kept
        self.seen += len(new)
