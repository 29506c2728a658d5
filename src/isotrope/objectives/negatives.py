"""Guided negatives: what a frozen encoder finds too near is no negative (GISTEmbed, Solatorio 2024, arXiv 2402.16829).

In a narrow domain many sentences of a batch mean nearly the same. A contrast pushes them apart all the same, unless
they are left out of the denominator.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from isotrope.objectives.similarity import cosine, unit
from isotrope.parts import Section


class Negatives(Section):
    """Which negatives are left out: those that the frozen encoder `guided_by` finds too near; None: none are.

    "start" is the encoder that the stage starts from, as saved; anything else is a name or folder. Too near is nearer
    than the positive less `margin` (GISTEmbed has 0), or nearer than `threshold`; with both, than the lower of the two.
    """

    guided_by: str | None = None
    margin: float | None = None
    threshold: float | None = None


def left_out(
    first: Tensor,
    second: Tensor,
    further: Sequence[Tensor] = (),
    *,
    margin: float | None = None,
    threshold: float | None = None,
    layers: int = 1,
) -> Tensor:
    """Who is no negative of whom, by the vectors g of a frozen encoder (GISTEmbed).

        out(i, x)  if  cos(g_i, g_x) > min( cos(g_i¹, g_i²) - margin, threshold )

    `first`, `second` (n, d) are its vectors of the two texts of each row, `further` (m, d) those of hard negatives and
    of the queue. Returns (2n, n + n layers + all m) of bool: rows are the first, then the second texts, columns are the
    first texts, the vectors of the second (where there is one of every layer, `layers` of each) and the further ones.
    Both texts of a row are never left out for each other.
    """
    n = len(first)
    bound = torch.full((n,), torch.inf if threshold is None else threshold, dtype=first.dtype, device=first.device)
    if margin is not None:
        bound = bound.minimum((unit(first) * unit(second)).sum(dim=1) - margin)
    seen = torch.cat([first, second.repeat_interleave(layers, dim=0), *further])
    near = cosine(torch.cat([first, second]), seen) > bound.repeat(2)[:, None]
    own = torch.eye(n, dtype=torch.bool, device=first.device)
    own = torch.cat([own, own.repeat_interleave(layers, dim=1)], dim=1).repeat(2, 1)  # (2n, n + n layers)
    near[:, : own.shape[1]] &= ~own
    return near
