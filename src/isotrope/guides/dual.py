"""Two towers: the encoder of the other language learns as well (paper 4, section 3.1, preliminaries)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from torch import Tensor

from isotrope.guides.base import Guide, LoadTeacher
from isotrope.guides.teacher import AnotherEncoderSpec

if TYPE_CHECKING:
    from isotrope.encoders import Encoder
    from isotrope.encoders.backbone import EmbeddingView
    from isotrope.encoders.packing import Batch


class DualSpec(AnotherEncoderSpec):
    """Any encoder, trained along."""

    kind: Literal["dual"] = "dual"

    def build(self, student: Encoder, load: LoadTeacher) -> Guide:
        """The encoder that the recipe or the call names."""
        return Dual(load(self.model, self.model_pooling))


class Dual(Guide):
    """An encoder with its own tokenizer that learns with the student."""

    def __init__(self, encoder: Encoder) -> None:
        super().__init__(encoder.dim)
        self.encoder = encoder

    @property
    def reader(self) -> Encoder:
        """The other tower reads with its own tokenizer."""
        return self.encoder

    def forward(self, batch: Batch, student: Encoder, view: EmbeddingView | None = None) -> Tensor:
        """(sentences, dim), with gradient."""
        vectors: Tensor = self.encoder(batch, view)
        return vectors
