"""Every view, and what it does to batches of two layouts."""

from __future__ import annotations

import torch
from torch import Tensor

from isotrope.encoders.packing import Batch, lay_out
from isotrope.views.embedding import VIEWS
from isotrope.views.embedding.unchanged import Unchanged

DIM = 10
DRAWING = [
    VIEWS.make(kind, variant=variant)
    for kind in VIEWS.kinds
    if kind not in ("none", "adversarial")
    for variant in ("paper", "official")
]
ALL = [Unchanged(), *DRAWING]


def layouts(sizes: list[int]) -> tuple[Batch, Batch]:
    """Sentences of these lengths, packed where it pays, and padded."""
    ids = [[1] * n for n in sizes]
    return lay_out(ids), lay_out(ids, pack=False)


def zeroed(view, batch: Batch, seed: int) -> list[Tensor]:
    """What the view zeroes in each sentence, (length, DIM) of bool. Padding it must leave alone."""
    torch.manual_seed(seed)
    seen = view(torch.ones(*batch.input_ids.shape, DIM), batch)
    rest = torch.ones(batch.input_ids.numel(), dtype=torch.bool).index_fill(0, batch.token_index, False)
    assert (seen.flatten(0, 1)[rest] != 0).all()
    return list((batch.flatten(seen) == 0).split(batch.lengths.tolist()))


def places(view, batch: Batch, seed: int, offset: int = 0) -> list[list[int]]:
    """The position ids of each sentence."""
    torch.manual_seed(seed)
    flat = view.positions(batch, offset).flatten()[batch.token_index]
    return [part.tolist() for part in flat.split(batch.lengths.tolist())]
