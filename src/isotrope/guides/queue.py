"""The memory queue: vectors of earlier batches as further negatives (paper 4, section 4.2; MoCo)."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class MemoryQueue(nn.Module):
    """The newest `size` vectors, oldest overwritten first. Begins empty: negatives are real vectors from the start.

    Persistent buffers, so a checkpoint holds it.
    """

    vectors: Tensor
    seen: Tensor

    def __init__(self, size: int, dim: int) -> None:
        super().__init__()
        self.register_buffer("vectors", torch.zeros(size, dim))
        self.register_buffer("seen", torch.zeros((), dtype=torch.long))  # how many have ever come

    def forward(self) -> Tensor:
        """What is remembered, (m, dim) with m at most `size`; in no particular order."""
        return self.vectors[: int(self.seen.clamp(max=len(self.vectors)))]

    @torch.no_grad()
    def push(self, new: Tensor) -> None:
        """(n, dim): takes the place of the oldest; of more than `size` only the last stay."""
        size = len(self.vectors)
        kept = new[-size:].to(self.vectors.dtype)
        first = int(self.seen) + len(new) - len(kept)
        places = (torch.arange(len(kept), device=kept.device) + first) % size
        self.vectors[places] = kept
        self.seen += len(new)
