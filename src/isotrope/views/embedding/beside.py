"""Several batches in one pass through an encoder, each seen in its own way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from isotrope.encoders.packing import Batch, beside, widened

if TYPE_CHECKING:
    from isotrope.encoders.backbone import EmbeddingView
    from isotrope.views.embedding.base import Layer


class Seen(NamedTuple):
    """A batch and how it is seen; None is as it stands."""

    batch: Batch
    view: EmbeddingView | None = None


def in_one_pass(encode: Callable[[Batch, EmbeddingView | None], Tensor], several: Sequence[Seen]) -> list[Tensor]:
    """What `encode` gives for each, (sentences, ...) each, from one call of it."""
    if len(several) == 1:
        return [encode(*several[0])]
    view = Beside(several) if any(one.view is not None for one in several) else None
    vectors = encode(beside([one.batch for one in several]), view)
    return list(torch.split(vectors, [len(one.batch.lengths) for one in several]))


class Beside:
    """The view of batches that lie below each other in one: each one's own rows are seen its own way."""

    def __init__(self, several: Sequence[Seen]) -> None:
        self.several = several
        views = [one.view for one in several if one.view is not None]
        self.whole = any(getattr(view, "whole", False) for view in views)
        self.places: tuple[Layer, ...] = tuple(dict.fromkeys(at for view in views for at in view.places))

    def positions(self, batch: Batch, offset: int) -> Tensor:
        """Position ids (rows, width)."""
        width = batch.input_ids.shape[1]
        found = [b.position_ids + offset if view is None else view.positions(b, offset) for b, view in self.several]
        return torch.cat([widened(positions, width, offset) for positions in found])

    def alter(self, embeddings: Tensor, batch: Batch, at: Layer) -> Tensor:
        """Embeddings (rows, width, dim), those of each batch altered by its own view, if that acts here."""
        rows = torch.split(embeddings, [len(one.batch.input_ids) for one in self.several])
        return torch.cat([_altered(own, one, at) for own, one in zip(rows, self.several, strict=True)])


def _altered(rows: Tensor, one: Seen, at: Layer) -> Tensor:
    """(rows, width, dim) of the joint batch; the view sees only the width of its own."""
    if one.view is None or at not in one.view.places:
        return rows
    width = one.batch.input_ids.shape[1]
    return torch.cat([one.view.alter(rows[:, :width], one.batch, at), rows[:, width:]], dim=1)
