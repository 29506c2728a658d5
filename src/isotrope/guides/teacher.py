"""The encoder of another language that teaches (paper 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

import torch
from torch import Tensor, nn

from isotrope.guides.base import Guide, GuideSpec, LoadTeacher

if TYPE_CHECKING:
    from isotrope.encoders import Encoder
    from isotrope.encoders.backbone import EmbeddingView
    from isotrope.encoders.packing import Batch


class AnotherEncoderSpec(GuideSpec):
    """A guide that is loaded: `model` is a name or folder, or `previous`, what the stage before made."""

    model: str | None = None  # may also come with the call
    model_pooling: str | None = None  # None: as the model was saved; a bare transformer needs to be told
    own_tokenizer: ClassVar[bool] = True


class TeacherSpec(AnotherEncoderSpec):
    """Any encoder, its weights fixed. `cache`: its vectors are computed once and kept on disk."""

    kind: Literal["teacher"] = "teacher"
    cache: bool = False
    dropout: bool = False

    @property
    def constant(self) -> bool:
        """Where its vectors come from disk."""
        return self.cache

    def build(self, student: Encoder, load: LoadTeacher) -> Guide:
        """The encoder that the recipe or the call names."""
        return Teacher(load(self.model, self.model_pooling), dropout=self.dropout)


class Teacher(Guide):
    """Any encoder with its own tokenizer, its weights fixed.

    With dropout off, as it is unless asked for, its vectors never change: `training` may read them from disk.
    """

    def __init__(self, encoder: Encoder, *, dropout: bool = False) -> None:
        super().__init__(encoder.dim, dropout=dropout)
        self.encoder = encoder
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
