"""Packing: sentences laid end to end in a few rows instead of padded to the longest one.

Positions restart with every sentence and attention is block-diagonal, so each sentence sees just itself and the vectors
are those of a padded batch. A padded batch is the special case of one sentence a row; everything behind the backbone
works on `Batch` and need not know which of the two it got.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from heapq import heapreplace
from itertools import chain
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

ROW_TOKENS = (32, 128)  # between how many and how many a row is aimed to have
TRIED = 12  # numbers of rows, of which the best is taken
# The matrix products of a position cost as much as its attention to so many others. Measured in training, on a BERT 384
# wide with dropout: 550 in float32, 390 in bfloat16. It is more for wider ones, where the choice hardly matters.
POSITION_COST = 500
# Multiples that rows and widths of a coarse layout are of
ROWS_BY, WIDTH_BY = 2, 8


@dataclass(frozen=True)
class Batch:
    """Tokenised sentences, laid out for one pass through a backbone."""

    input_ids: Tensor  # (rows, width)
    position_ids: Tensor  # (rows, width), 0 at the first token of every sentence
    sentence: Tensor  # (rows, width), index of the sentence a token belongs to, -1 for padding
    lengths: Tensor  # (sentences,)
    token_index: Tensor  # (tokens,), where each token of sentence 0, 1, 2 ... stands in the flattened rows

    @property
    def packed(self) -> bool:
        """Whether any row holds more than one sentence."""
        return self.input_ids.shape[0] < self.lengths.shape[0]

    @property
    def padding(self) -> float:
        """Share of the positions that hold no token."""
        return 1 - self.token_index.numel() / self.input_ids.numel()

    def attention_mask(self, dtype: torch.dtype) -> Tensor:
        """(rows, width) of 0 and 1 when padded; `block_mask` when packed."""
        return self.block_mask(dtype) if self.packed else (self.sentence >= 0).long()

    def block_mask(self, dtype: torch.dtype) -> Tensor:
        """Additive (rows, 1, width, width), block-diagonal: each sentence sees itself alone.

        Padding attends to padding, so that no row of the softmax is empty.
        """
        apart = self.sentence[:, None, :, None] != self.sentence[:, None, None, :]
        return torch.zeros(apart.shape, dtype=dtype, device=apart.device).masked_fill_(apart, torch.finfo(dtype).min)

    def flatten(self, hidden: Tensor) -> Tensor:
        """(rows, width, dim) -> (tokens, dim): the sentences' tokens end to end, padding left out."""
        return hidden.flatten(0, 1).index_select(0, self.token_index)

    def unpack(self, hidden: Tensor) -> tuple[Tensor, Tensor]:
        """(rows, width, dim) -> (sentences, longest, dim) and its mask (sentences, longest)."""
        if not self.packed:
            return hidden, (self.sentence >= 0).long()
        column = torch.arange(int(self.lengths.max()), device=hidden.device)
        mask = column < self.lengths[:, None]
        first = self.lengths.cumsum(0) - self.lengths
        index = (first[:, None] + column).where(mask, 0)
        return hidden.flatten(0, 1)[self.token_index[index]], mask.long()

    def part(self, rows: Tensor, width: int | None = None) -> tuple[Batch, Tensor]:
        """Some rows, cut behind `width` places, as a batch of their own, and which sentences are in it.

        They are numbered as they stand there: in a batch of one sentence a row, row i is that of sentence i.
        """
        here = self.sentence[rows, :width]
        flat = here.flatten()
        token_index = (flat >= 0).nonzero().squeeze(1)
        sentences, number, lengths = torch.unique_consecutive(
            flat[token_index], return_inverse=True, return_counts=True
        )
        part = Batch(
            input_ids=self.input_ids[rows, :width],
            position_ids=self.position_ids[rows, :width],
            sentence=torch.full_like(flat, -1).index_copy(0, token_index, number).view_as(here),
            lengths=lengths,
            token_index=token_index,
        )
        return part, sentences

    def to(self, device: torch.device) -> Batch:
        """The same batch on another device."""
        moved = {name: tensor.to(device, non_blocking=True) for name, tensor in vars(self).items()}
        return replace(self, **moved)


def lay_out(sentences: Sequence[Sequence[int]], pad_id: int = 0, *, pack: bool = True, coarse: bool = False) -> Batch:
    """Token ids of each sentence -> one `Batch`; packed where that saves positions, unless `pack` is off.

    A `coarse` one is of few different shapes. For every shape of a product in bfloat16 that a processor has not seen
    before, code is generated first, which takes longer than the product (docs/benchmarks.md).
    """
    lengths = [len(ids) for ids in sentences]
    rows = plan_rows(lengths, coarse=coarse) if pack else [[i] for i in range(len(lengths))]
    width = width_of(lengths, rows, coarse=coarse)
    starts = [0] * len(lengths)
    for r, row in enumerate(rows):
        column = r * width
        for i in row:
            starts[i] = column
            column += lengths[i]
    # numpy, not torch: these are small, and torch would wake its threads for each
    size = np.array(lengths)
    within = np.arange(size.sum()) - np.repeat(size.cumsum() - size, size)
    token_index = np.repeat(starts, size) + within

    def spread(values: Any, empty: int) -> Tensor:
        flat = np.full(len(rows) * width, empty, dtype=np.int64)
        flat[token_index] = values
        return torch.from_numpy(flat).view(len(rows), width)

    return Batch(
        input_ids=spread(np.fromiter(chain.from_iterable(sentences), np.int64), pad_id),
        position_ids=spread(within, 0),
        sentence=spread(np.repeat(np.arange(len(lengths)), size), -1),
        lengths=torch.from_numpy(size),
        token_index=torch.from_numpy(token_index),
    )


def beside(batches: Sequence[Batch], pad_id: int = 0) -> Batch:
    """Several batches as one: rows below rows, the sentences of each behind those of the one before."""
    width = max(batch.input_ids.shape[1] for batch in batches)
    rows = sentences = 0
    parts: list[Batch] = []
    for batch in batches:
        row, column = batch.token_index // batch.input_ids.shape[1], batch.token_index % batch.input_ids.shape[1]
        parts.append(
            Batch(
                input_ids=widened(batch.input_ids, width, pad_id),
                position_ids=widened(batch.position_ids, width, 0),
                sentence=widened(batch.sentence.where(batch.sentence < 0, batch.sentence + sentences), width, -1),
                lengths=batch.lengths,
                token_index=(row + rows) * width + column,
            )
        )
        rows, sentences = rows + len(batch.input_ids), sentences + len(batch.lengths)
    return Batch(**{name: torch.cat([getattr(part, name) for part in parts]) for name in vars(parts[0])})


def widened(tensor: Tensor, width: int, value: int) -> Tensor:
    """(rows, less) -> (rows, width), filled up with `value`."""
    return functional.pad(tensor, (0, width - tensor.shape[1]), value=value)


def plan_rows(lengths: Sequence[int], *, coarse: bool = False) -> list[list[int]]:
    """Which sentences share a row. Long rows waste few positions, short ones have the cheaper attention: of rows of
    several lengths, and of one sentence a row, those that cost least.
    """
    longest, total = max(lengths), sum(lengths)
    order = sorted(range(len(lengths)), key=lambda i: -lengths[i])
    fewest, most = (max(1, round(total / max(longest, tokens))) for tokens in reversed(ROW_TOKENS))
    by = ROWS_BY if coarse else 1
    fewest, most = rounded_up(fewest, by), rounded_up(most, by)
    counts = range(fewest, most + 1, by * (1 + (most - fewest) // by // TRIED))
    plans = [even_rows(lengths, order, count) for count in counts if not coarse or count < len(lengths)]

    def cost(rows: list[list[int]]) -> int:
        width = width_of(lengths, rows, coarse=coarse)
        return len(rows) * width * (POSITION_COST + width)

    return min([[[i] for i in range(len(lengths))], *plans], key=cost)


def even_rows(lengths: Sequence[int], order: Sequence[int], count: int) -> list[list[int]]:
    """So many rows: each sentence, the longest first, into the row that is emptiest. So they come out even."""
    rows: list[list[int]] = [[] for _ in range(count)]
    filled = [(0, k) for k in range(count)]  # a heap
    for i in order:
        tokens, k = filled[0]
        rows[k].append(i)
        heapreplace(filled, (tokens + lengths[i], k))
    return rows


def width_of(lengths: Sequence[int], rows: list[list[int]], *, coarse: bool = False) -> int:
    """How many positions the fullest row takes. One sentence a row is never wider than the longest: its positions are
    the model's own, who may have no more.
    """
    width = max(sum(lengths[i] for i in row) for row in rows)
    return rounded_up(width, WIDTH_BY) if coarse and len(rows) < len(lengths) else width


def rounded_up(number: int, by: int) -> int:
    """The next multiple of `by`."""
    return -(-number // by) * by
