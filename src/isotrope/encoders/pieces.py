"""A batch in pieces: some rows at a time go through the backbone, and the vectors come out as those of the whole.

Two reasons. Where a backbone can't be packed, rows of like length together need little padding. And where a batch is
too large for the memory, the activations of one piece at a time are kept: those of the others are computed again on the
way back, with the same random numbers, which is GradCache (Gao et al. 2021) by means of torch's checkpointing. The
gradients are those of the whole batch either way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from isotrope.encoders.packing import POSITION_COST, Batch
from isotrope.io.memory import give_back_freed_memory

if TYPE_CHECKING:
    from isotrope.encoders.backbone import Backbone, EmbeddingView, Layer

PIECE_COST = 20 * POSITION_COST  # of one call more, as of so many positions
CUTS = 24  # places at which a batch may be cut
Encode = Callable[[Batch, "EmbeddingView | None"], Tensor]  # (sentences, ...)
_most: ContextVar[int | None] = ContextVar("sentences at a time", default=None)


@contextmanager
def at_a_time(sentences: int | None) -> Iterator[None]:
    """Within, encoders keep the activations of about so many sentences; None: of all."""
    token = _most.set(sentences)
    try:
        yield
    finally:
        _most.reset(token)


def in_pieces(encode: Encode, batch: Batch, view: EmbeddingView | None, backbone: Backbone) -> Tensor:
    """What `encode` makes of the batch, (sentences, ...), by way of pieces where that saves time or memory."""
    most = _most.get()
    if (most is None and backbone.margin is None) or getattr(view, "whole", False):
        return encode(batch, view)
    groups = cut(batch, most, backbone.margin)
    if len(groups) == 1:
        return encode(batch, view)
    pieces = [take(batch, rows, backbone.margin) for rows in groups]
    seen = None if view is None else _Seen(view, batch, backbone.position_offset)
    vectors: list[Tensor] = []
    for piece in pieces:
        own = None if seen is None else _OnPiece(seen, piece)
        again = most is not None and torch.is_grad_enabled()
        vectors.append(_checkpointed(encode, piece.batch, own) if again else encode(piece.batch, own))
    order = torch.cat([piece.sentences for piece in pieces]).argsort()
    return torch.cat(vectors)[order]


class Piece(NamedTuple):
    """Some rows of a batch as a batch of its own."""

    batch: Batch
    rows: Tensor  # of the whole batch, (rows,)
    sentences: Tensor  # of the whole batch, as they stand in those rows, (sentences,)


def take(batch: Batch, rows: Tensor, margin: int | None = None) -> Piece:
    """Those rows, cut behind the longest of them and `margin` places of padding; None: as wide as they were."""
    width = batch.input_ids.shape[1]
    if margin is not None:
        filled = (batch.sentence[rows] >= 0).any(0).nonzero()
        width = min(width, int(filled.max()) + 1 + margin)
    part, sentences = batch.part(rows, width)
    return Piece(part, rows, sentences)


def cut(batch: Batch, most: int | None, margin: int | None) -> list[Tensor]:
    """The rows of each piece, ascending: of like length where pieces may be narrower than the batch, with at most about
    `most` sentences where that is said.
    """
    rows = torch.arange(len(batch.input_ids), device=batch.input_ids.device)
    groups = [rows]
    if margin is not None and not batch.packed:
        order = batch.lengths.argsort(descending=True, stable=True)
        groups = list(torch.split(order, _like_lengths(batch.lengths[order].tolist(), margin)))
    each = len(rows) if most is None else max(1, most * len(rows) // len(batch.lengths))
    return [some.sort().values for group in groups for some in torch.split(group, each)]


def _like_lengths(lengths: Sequence[int], margin: int) -> list[int]:
    """How many of the descending lengths go together, so that all cost least; by dynamic programming."""
    step = -(-len(lengths) // CUTS)
    cuts = [*range(0, len(lengths), step), len(lengths)]

    def cost(start: int, stop: int) -> int:
        width = min(lengths[start] + margin, lengths[0])
        return (stop - start) * width * (POSITION_COST + width) + PIECE_COST

    best: list[tuple[int, list[int]]] = [(0, [])]
    for k, stop in enumerate(cuts[1:], start=1):
        best.append(
            min((best[i][0] + cost(cuts[i], stop), [*best[i][1], stop - cuts[i]]) for i in range(k))  # the cheapest
        )
    return best[-1][1]


def _checkpointed(encode: Encode, batch: Batch, view: EmbeddingView | None) -> Tensor:
    def again(ids: Tensor) -> Tensor:  # by the ids torch sees of which device it has to keep the random state
        give_back_freed_memory()  # else graphs and gradients, which stay, settle among activations, which don't
        return encode(replace(batch, input_ids=ids), view)

    found: Tensor = checkpoint(again, batch.input_ids, use_reentrant=False)
    return found


class _Seen:
    """A view of a whole batch, of which the pieces take their parts: whatever it draws, it draws alike for each."""

    def __init__(self, view: EmbeddingView, batch: Batch, offset: int) -> None:
        self.view, self.batch = view, batch
        self.positions = view.positions(batch, offset)
        self.states: dict[Layer, Tensor] = {}

    def alter(self, embeddings: Tensor, at: Layer) -> Tensor:
        """The embeddings of the whole batch, (rows, width, dim); those of other pieces may be 0."""
        now = _random_state(embeddings.device)
        before = self.states.setdefault(at, now)
        _set_random_state(before, embeddings.device)
        seen = self.view.alter(embeddings, self.batch, at)
        if not torch.equal(now, before):  # else this is where the whole batch would have drawn
            _set_random_state(now, embeddings.device)
        return seen


class _OnPiece:
    """What a piece sees of it."""

    def __init__(self, seen: _Seen, piece: Piece) -> None:
        self.seen, self.rows = seen, piece.rows
        self.places: tuple[Layer, ...] = seen.view.places

    def positions(self, batch: Batch, offset: int) -> Tensor:
        return self.seen.positions[self.rows, : batch.input_ids.shape[1]]

    def alter(self, embeddings: Tensor, batch: Batch, at: Layer) -> Tensor:
        rows, width = self.seen.batch.input_ids.shape
        wide = functional.pad(embeddings, (0, 0, 0, width - embeddings.shape[1]))
        all_rows = wide.new_zeros(rows, *wide.shape[1:]).index_copy(0, self.rows, wide)
        return self.seen.alter(all_rows, at)[self.rows, : embeddings.shape[1]]


def _random_state(device: torch.device) -> Tensor:
    found: Tensor = torch.get_rng_state() if device.type == "cpu" else torch.get_device_module(device).get_rng_state()
    return found


def _set_random_state(state: Tensor, device: torch.device) -> None:
    torch.set_rng_state(state) if device.type == "cpu" else torch.get_device_module(device).set_rng_state(state)
