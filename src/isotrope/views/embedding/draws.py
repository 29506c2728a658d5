"""What chance decides, sentence by sentence, for a whole batch at once.

Everything is drawn over the tokens laid end to end, without padding. So a packed and a padded batch that start from the
same state of torch's generator are seen in the very same way, and a saved state brings a run back exactly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import torch
from torch import Tensor

if TYPE_CHECKING:
    from isotrope.encoders.packing import Batch

Rounding = Literal["down", "nearest"]


def sentence_of(batch: Batch) -> Tensor:
    """Index of the sentence that each token belongs to, ascending, (tokens,)."""
    return batch.sentence.flatten()[batch.token_index]


def free_tokens(batch: Batch, specials: bool) -> Tensor:
    """Indices of the tokens that take part: all, or all but the first and the last of each sentence, (free,)."""
    if specials:
        return torch.arange(batch.token_index.numel(), device=batch.token_index.device)
    position = batch.position_ids.flatten()[batch.token_index]
    last = batch.lengths[sentence_of(batch)] - 1
    return ((position > 0) & (position < last)).nonzero().flatten()


def shuffled(group: Tensor) -> Tensor:
    """A random permutation of the items that moves each one within its own group; `group` ascends, (items,)."""
    return (group * 2**32 + torch.randint(2**32, group.shape, device=group.device)).argsort()


def choose(group: Tensor, count: Tensor) -> Tensor:
    """Whether an item is drawn: exactly `count[g]` of the items of group g, every choice alike, (items,) of bool."""
    drawn = torch.empty_like(group, dtype=torch.bool)
    drawn[shuffled(group)] = rank(group) < count[group]
    return drawn


def rank(group: Tensor) -> Tensor:
    """0, 1, 2 ... within each group; `group` ascends, (items,)."""
    size = group.bincount()
    return torch.arange(group.numel(), device=group.device) - (size.cumsum(0) - size)[group]


def share(size: Tensor, rate: float, rounding: Rounding) -> Tensor:
    """How many of `size` things a rate is. In float64, as Python's `int(size * rate)`, which not every device has."""
    exact = size.cpu().double() * rate
    return (exact.floor() if rounding == "down" else exact.round()).long().to(size.device)
