"""None: the sentence as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from torch import Tensor

from isotrope.views.embedding.base import LossOfVectors, View

if TYPE_CHECKING:
    from isotrope.encoders import Encoder
    from isotrope.encoders.packing import Batch


class Unchanged(View):
    """The encoder reads the text without a view."""

    kind: Literal["none"] = "none"

    def on(self, batch: Batch, student: Encoder, loss: LossOfVectors | None) -> None:
        """No view at all."""
        return

    def __call__(self, embeddings: Tensor, batch: Batch) -> Tensor:
        """Embeddings unchanged."""
        return embeddings
