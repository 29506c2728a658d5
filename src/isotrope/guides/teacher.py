"""The encoder of another language that teaches (paper 4): frozen, or trained along (the paper's "dual" preliminary)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from isotrope.encoders import Encoder
from isotrope.encoders.backbone import EmbeddingView
from isotrope.encoders.packing import Batch
from isotrope.guides.base import Guide
from isotrope.guides.queue import MemoryQueue


class Teacher(Guide):
    """Any encoder with its own tokenizer, its weights fixed, and optionally a queue of its latest vectors.

    With dropout off, as it is unless asked for, its vectors never change: `training` may read them from disk.
    """

    def __init__(self, encoder: Encoder, *, queue: int = 0, dropout: bool = False) -> None:
        super().__init__(dropout=dropout)
        self.encoder = encoder
        self.queue = MemoryQueue(queue, encoder.dim) if queue else None
        self._new: list[Tensor] = []  # of this step: the queue must not change before its gradient is taken
        self.keep_frozen()

    @property
    def reader(self) -> Encoder:
        """The teacher reads with its own tokenizer."""
        return self.encoder

    @property
    def frozen(self) -> tuple[nn.Module, ...]:
        """The whole teacher."""
        return (self.encoder,)

    @torch.no_grad()
    def forward(self, batch: Batch, student: Encoder, view: EmbeddingView | None = None) -> Tensor:
        """(sentences, dim), without gradient."""
        vectors: Tensor = self.encoder(batch, view)
        return vectors

    def negatives(self) -> Tensor | None:
        """The queue."""
        return None if self.queue is None else self.queue()

    def remember(self, vectors: Tensor) -> None:
        """Into the queue, after the step."""
        if self.queue is not None:
            self._new.append(vectors.detach())

    def after_step(self, student: Encoder, progress: float) -> None:
        """The step's vectors take the place of the oldest."""
        for vectors in self._new:
            assert self.queue is not None
            self.queue.push(vectors)
        self._new.clear()


class Dual(Teacher):
    """The source encoder learns as well: two towers (paper 4, section 3.1, preliminaries)."""

    @property
    def frozen(self) -> tuple[nn.Module, ...]:
        """Nothing."""
        return ()

    def forward(self, batch: Batch, student: Encoder, view: EmbeddingView | None = None) -> Tensor:
        """(sentences, dim), with gradient."""
        vectors: Tensor = self.encoder(batch, view)
        return vectors
