"""What every guide has in common."""

from __future__ import annotations

from abc import ABC, abstractmethod

from torch import Tensor, nn

from isotrope.encoders import Encoder
from isotrope.encoders.backbone import EmbeddingView
from isotrope.encoders.packing import Batch


class Guide(nn.Module, ABC):
    """Encodes what the student is compared with. All that it remembers is in buffers, so a checkpoint holds it.

    `frozen` are the modules that must not learn; `keep_frozen` puts them back into eval mode whenever somebody has
    called `train()`, unless `dropout` is wanted, as the published codes of papers 1 and 3 have it by accident.
    """

    def __init__(self, *, dropout: bool = False) -> None:
        super().__init__()
        self.dropout = dropout

    @abstractmethod
    def forward(self, batch: Batch, student: Encoder, view: EmbeddingView | None = None) -> Tensor:
        """(sentences, dim), or (sentences, layers, dim) from a guide that shows every layer."""

    @property
    def reader(self) -> Encoder | None:
        """The encoder whose tokenizer reads the guide's text; None where it is the student's."""
        return None

    @property
    def frozen(self) -> tuple[nn.Module, ...]:
        """Parts that never learn."""
        return ()

    def keep_frozen(self) -> None:
        """Frozen parts take no gradient and, unless told otherwise, draw no dropout."""
        for part in self.frozen:
            part.requires_grad_(False)
            part.train(self.dropout and self.training)

    def after_step(self, student: Encoder, progress: float) -> None:
        """Called after each step of the optimiser; `progress` is the share of the run that is done."""

    def negatives(self) -> Tensor | None:
        """Remembered vectors, further negatives of every sentence: (m, dim)."""
        return None

    def remember(self, vectors: Tensor) -> None:
        """Takes the vectors (n, dim) that it gave for the batch, of all processes."""


class Itself(Guide):
    """The student is its own guide: both views are encoded by the same weights, and both learn."""

    def forward(self, batch: Batch, student: Encoder, view: EmbeddingView | None = None) -> Tensor:
        """(sentences, dim), with gradient."""
        vectors: Tensor = student(batch, view)
        return vectors
