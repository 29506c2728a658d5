"""Token shuffling (paper 2, section 3.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

from torch import Tensor

from isotrope.views.embedding.base import ConsertView
from isotrope.views.embedding.draws import free_tokens, sentence_of, shuffled

if TYPE_CHECKING:
    from isotrope.encoders.packing import Batch


class Shuffle(ConsertView):
    """The tokens stay, their position ids are permuted within each sentence.

    `specials`: [CLS] and [SEP] are permuted too. `offset`: positions begin where the model's do; the published code
    begins at 0 even for RoBERTa, which begins at 2.
    """

    kind: Literal["shuffle"] = "shuffle"
    specials: bool = False
    offset: bool = True
    official: ClassVar[dict[str, Any]] = {"specials": True, "offset": False}

    def positions(self, batch: Batch, offset: int) -> Tensor:
        """Permuted position ids (rows, width)."""
        free = free_tokens(batch, self.specials)
        place = batch.token_index[free]
        positions = batch.position_ids.flatten().clone()
        positions[place] = positions[place[shuffled(sentence_of(batch)[free])]]
        return positions.view_as(batch.position_ids) + (offset if self.offset else 0)

    def __call__(self, embeddings: Tensor, batch: Batch) -> Tensor:
        """Embeddings unchanged: the order is in the position ids alone."""
        return embeddings
