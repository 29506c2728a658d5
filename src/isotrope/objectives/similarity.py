"""g(u, v) of the papers: the cosine, in float32 or better whatever comes in."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.linalg import vector_norm


def cosine(a: Tensor, b: Tensor) -> Tensor:
    """Every vector of `a` (n, d) with every vector of `b` (m, d) -> (n, m). A zero vector is orthogonal to all.

    The dot products are divided by the lengths of `b`, not `b` itself: it may be a queue too large to copy. Autocast is
    off, for it would round them to half precision, and a temperature of 0.001 makes a thousandfold of the error.
    """
    with torch.autocast(a.device.type, enabled=False):
        b = in_full(b)
        return unit(a) @ b.T / length(b).T


def to_further_negatives(
    query: Tensor, temperature: float | Tensor, queue: Tensor | None, hard_negatives: Tensor | None
) -> list[Tensor]:
    """Logits of the queries (n, d) against a queue (m, d) and hard negatives (..., d), where there are any."""
    further = [x.flatten(0, -2) for x in (hard_negatives, queue) if x is not None]
    return [cosine(query, x) / temperature for x in further]


def leave_out(logits: Tensor, left_out: Tensor | None) -> Tensor:
    """Logits with -inf where `left_out`, of the same shape, is true: no part of a denominator then."""
    return logits if left_out is None else logits.masked_fill(left_out, -torch.inf)


def without_self(logits: Tensor) -> Tensor:
    """(n, n) with the diagonal at -inf: no vector is its own negative."""
    return logits.masked_fill(torch.eye(len(logits), dtype=torch.bool, device=logits.device), -torch.inf)


def unit(x: Tensor) -> Tensor:
    """(..., d) scaled to length one; a zero vector stays zero."""
    x = in_full(x)
    return x / length(x)


def length(x: Tensor) -> Tensor:
    """(..., d) -> (..., 1). A zero vector counts as of length one: neither it nor its gradient is then infinite."""
    norm: Tensor = vector_norm(x, dim=-1, keepdim=True)
    return norm.where(norm > 0, 1)


def in_full(x: Tensor) -> Tensor:
    """Half precision -> float32; float32 and float64 as they are."""
    return x.to(torch.promote_types(x.dtype, torch.float32))
