"""One positive against many negatives: NT-Xent, where both sides are alike, and InfoNCE, where one asks the other.

φ(u, v) = exp(cos(u, v) / τ) throughout. The projection head f of paper 1 is the caller's.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from isotrope.objectives.similarity import cosine, in_full


def nt_xent(a: Tensor, b: Tensor, temperature: float | Tensor) -> Tensor:
    """L^base of paper 1 (section 3.1) without L^reg; L_i,j of paper 2. Row i of `a` belongs to row i of `b`, (n, d).

        L_m = -log( φ(x_m, μ(x_m)) / Σ_{k≠m} φ(x_m, x_k) ),   x = [a; b],   mean over the 2n

    ConSERT's published code sums the two directions instead of averaging them: twice this.
    """
    x = torch.cat([in_full(a), in_full(b)])  # (2n, d)
    logits = without_self(cosine(x, x) / temperature)  # (2n, 2n)
    n = len(a)
    partner = torch.arange(2 * n, device=x.device).roll(n)
    return cross_entropy(logits, partner)


def info_nce(
    query: Tensor,
    keys: Tensor,
    temperature: float | Tensor,
    queue: Tensor | None = None,
    hard_negatives: Tensor | None = None,
) -> Tensor:
    """Paper 4, and both forms of SimCSE. `query`, `keys` (n, d): row i of one belongs to row i of the other.

        L_i = -log( φ(q_i, k_i) / Σ_x φ(q_i, x) ),   x over all keys, all hard negatives and the queue,   mean over n

    `queue` (m, d), m >= 0, holds earlier keys. `hard_negatives` are (n, d) or (n, k, d); as in SimCSE every query sees
    those of all queries.
    """
    blocks = [cosine(query, keys)]  # the positives on the diagonal, (n, n)
    if hard_negatives is not None:
        blocks.append(cosine(query, hard_negatives.flatten(0, -2)))  # (n, n k)
    if queue is not None:
        blocks.append(cosine(query, queue))  # (n, m)
    logits = torch.cat(blocks, dim=1) / temperature
    return cross_entropy(logits, torch.arange(len(query), device=logits.device))


def without_self(logits: Tensor) -> Tensor:
    """(n, n) with the diagonal at -inf: no vector is its own negative."""
    return logits.masked_fill(torch.eye(len(logits), dtype=torch.bool, device=logits.device), -torch.inf)
