"""Self-guided contrastive learning: a sentence vector c learns from views h of the frozen copy (paper 1, section 3.2).

φ(u, v) = exp(cos(u, v) / τ); the projection head f is the caller's, and L^reg is `anchor`. A queue and hard negatives,
which the paper does not have, add to every denominator.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, logsigmoid

from isotrope.io.errors import IsotropeError, nearest
from isotrope.objectives.base import Contrastive, Temperature
from isotrope.objectives.similarity import cosine, leave_out, to_further_negatives, without_self


class SelfGuided(Contrastive):
    """`variant` is opt1, opt2 or opt3 of paper 1, or `opt2-official`: opt2 as the published code has it."""

    kind: Literal["self-guided"] = "self-guided"
    variant: Literal["opt1", "opt2", "opt2-official", "opt3"] = "opt3"

    @property
    def layered(self) -> bool:
        """opt3 sees a view of every layer, the others one view."""
        return self.variant == "opt3"

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
        """`self_guided`."""
        return self_guided(c, h, state(), self.variant, queue, hard, left_out)


def self_guided(
    c: Tensor,
    h: Tensor,
    temperature: float | Tensor,
    variant: str,
    queue: Tensor | None = None,
    hard_negatives: Tensor | None = None,
    left_out: Tensor | None = None,
) -> Tensor:
    """L^opt1, L^opt2 or L^opt3 of paper 1, or `opt2-official`.

    `c` is (n, d); `h` is (n, d), one view of each sentence, and for opt3 (n, layers, d), one of each layer.
    `left_out` is that of `negatives.left_out`.
    """
    if variant not in VARIANTS:
        raise IsotropeError(f"unknown variant '{variant}'{nearest(variant, VARIANTS)}; one of {', '.join(VARIANTS)}")
    if h.dim() != (3 if variant == "opt3" else 2):
        wanted = "(n, layers, d)" if variant == "opt3" else "(n, d)"
        raise IsotropeError(f"self_guided: {variant} takes h of shape {wanted}, not {tuple(h.shape)}")
    further = to_further_negatives(c, temperature, queue, hard_negatives)  # (n, m) each
    return VARIANTS[variant](c, h, temperature, further, None if left_out is None else left_out[: len(c)])


def _opt1(c: Tensor, h: Tensor, temperature: float | Tensor, further: list[Tensor], out: Tensor | None) -> Tensor:
    """L_i = -log( φ(c_i, h_i) / (Σ_{j≠i} φ(c_i, c_j) + Σ_j φ(c_i, h_j)) ), mean over n."""
    views = cosine(c, h) / temperature  # (n, n), the positives on the diagonal
    others = without_self(cosine(c, c) / temperature)  # (n, n)
    logits = torch.cat([views, others, *further], dim=1)
    n = len(c)
    if out is not None:  # its columns are c, then h
        logits = leave_out(logits, torch.cat([out[:, n : 2 * n], out[:, :n], out[:, 2 * n :]], dim=1))
    return cross_entropy(logits, torch.arange(n, device=c.device))


def _opt2(c: Tensor, h: Tensor, temperature: float | Tensor, further: list[Tensor], out: Tensor | None) -> Tensor:
    """L_i = -log( φ(c_i, h_i) / Σ_j φ(c_i, h_j) ), mean over n: InfoNCE."""
    logits = torch.cat([cosine(c, h) / temperature, *further], dim=1)
    logits = leave_out(logits, None if out is None else out[:, len(c) :])
    return cross_entropy(logits, torch.arange(len(c), device=c.device))


def _opt2_official(
    c: Tensor, h: Tensor, temperature: float | Tensor, further: list[Tensor], out: Tensor | None
) -> Tensor:
    """As opt2, but every sentence loses its first negative: h_1, and the first sentence h_2 (counted from 1).

    The published code lists the negatives of c_i as n - 1 of the c_j, then n - 1 of the h_j, and to leave out the c_j
    cuts off the first n.
    """
    lost = torch.zeros(len(c), len(h), dtype=torch.bool, device=c.device)
    lost[1:, :1] = True
    lost[:1, 1:2] = True
    logits = torch.cat([(cosine(c, h) / temperature).masked_fill(lost, -torch.inf), *further], dim=1)
    logits = leave_out(logits, None if out is None else out[:, len(c) :])
    return cross_entropy(logits, torch.arange(len(c), device=c.device))


def _opt3(c: Tensor, h: Tensor, temperature: float | Tensor, further: list[Tensor], out: Tensor | None) -> Tensor:
    """L_i,k = -log( φ(c_i, h_i,k) / (φ(c_i, h_i,k) + Σ_{m≠i} Σ_l φ(c_i, h_m,l)) ), mean over n x layers."""
    n, layers, _ = h.shape
    logits = (cosine(c, h.flatten(0, 1)) / temperature).view(n, n, layers)  # (n, n, layers)
    positive = logits.diagonal().T  # (n, layers)
    own = torch.eye(n, dtype=torch.bool, device=c.device)[:, :, None]
    others = logits.masked_fill(own, -torch.inf).flatten(1)  # (n, n layers)
    every = leave_out(torch.cat([others, *further], dim=1), None if out is None else out[:, n:])
    negatives = every.logsumexp(dim=1, keepdim=True)  # (n, 1)
    return -logsigmoid(positive - negatives).mean()


VARIANTS = {"opt1": _opt1, "opt2": _opt2, "opt2-official": _opt2_official, "opt3": _opt3}
