"""InfoNCE: one positive against many negatives, where one side asks the other (paper 4, SimCSE)."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from isotrope.objectives.base import Contrastive, Temperature
from isotrope.objectives.similarity import cosine, leave_out, to_further_negatives


def info_nce(
    query: Tensor,
    keys: Tensor,
    temperature: float | Tensor,
    queue: Tensor | None = None,
    hard_negatives: Tensor | None = None,
    left_out: Tensor | None = None,
) -> Tensor:
    """Paper 4, and both forms of SimCSE. `query`, `keys` (n, d): row i of one belongs to row i of the other.

        L_i = -log( φ(q_i, k_i) / Σ_x φ(q_i, x) ),   x over all keys, all hard negatives and the queue,   mean over n

    φ(u, v) = exp(cos(u, v) / τ). `queue` (m, d), m >= 0, holds earlier keys. `hard_negatives` are (n, d) or (n, k, d);
    as in SimCSE every query sees those of all queries. `left_out` is that of `negatives.left_out`.
    """
    further = to_further_negatives(query, temperature, queue, hard_negatives)
    logits = torch.cat([cosine(query, keys) / temperature, *further], dim=1)  # the positives on the diagonal
    n = len(query)
    logits = leave_out(logits, None if left_out is None else left_out[:n, n:])
    return cross_entropy(logits, torch.arange(n, device=logits.device))


class InfoNCE(Contrastive):
    """Every vector of the student's asks all of the guide's for its partner."""

    kind: Literal["info-nce"] = "info-nce"

    def __call__(
        self,
        c: Tensor,
        h: Tensor,
        state: Temperature,
        *,
        queue: Tensor | None,
        hard: Tensor | None,
        left_out: Tensor | None = None,
    ) -> Tensor:
        """`info_nce`."""
        return info_nce(c, h, state(), queue, hard, left_out)
