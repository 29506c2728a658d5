"""NT-Xent: one positive against many negatives, where both sides are alike (SG, ConSERT)."""

from __future__ import annotations

from typing import ClassVar, Literal

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from isotrope.objectives.base import Contrastive, Temperature
from isotrope.objectives.similarity import cosine, in_full, leave_out, to_further_negatives, without_self


def nt_xent(
    a: Tensor,
    b: Tensor,
    temperature: float | Tensor,
    queue: Tensor | None = None,
    hard_negatives: Tensor | None = None,
    left_out: Tensor | None = None,
) -> Tensor:
    """L^base of paper 1 (section 3.1) without L^reg; L_i,j of paper 2. Row i of `a` belongs to row i of `b`, (n, d).

        L_m = -log( φ(x_m, μ(x_m)) / Σ_{k≠m} φ(x_m, x_k) ),   x = [a; b],   mean over the 2n

    φ(u, v) = exp(cos(u, v) / τ). ConSERT's published code sums the two directions instead of averaging them: twice
    this. A queue (m, d) and hard negatives (..., d), which the papers do not have here, add to every denominator.
    `left_out` is that of `negatives.left_out`.
    """
    x = torch.cat([in_full(a), in_full(b)])  # (2n, d)
    logits = without_self(cosine(x, x) / temperature)  # (2n, 2n)
    logits = torch.cat([logits, *to_further_negatives(x, temperature, queue, hard_negatives)], dim=1)
    logits = leave_out(logits, left_out)
    n = len(a)
    partner = torch.arange(2 * n, device=x.device).roll(n)
    return cross_entropy(logits, partner)


class NTXent(Contrastive):
    """Every vector of the batch asks all others for its partner, the student's and the guide's alike."""

    kind: Literal["nt-xent"] = "nt-xent"
    symmetric: ClassVar[bool] = True

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
        """`nt_xent`."""
        return nt_xent(c, h, state(), queue, hard, left_out)
