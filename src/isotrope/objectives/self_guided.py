"""Self-guided contrastive learning: a sentence vector c learns from views h of the frozen copy (paper 1, section 3.2).

φ(u, v) = exp(cos(u, v) / τ); the projection head f is the caller's, and L^reg is `anchor`.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, logsigmoid

from isotrope.io.errors import IsotropeError, nearest
from isotrope.objectives.contrastive import info_nce, without_self
from isotrope.objectives.similarity import cosine


def self_guided(c: Tensor, h: Tensor, temperature: float | Tensor, variant: str) -> Tensor:
    """L^opt1, L^opt2 or L^opt3 of paper 1, or `opt2-official`: opt2 as the published code has it.

    `c` is (n, d); `h` is (n, d), one view of each sentence, and for opt3 (n, layers, d), one of each layer.
    """
    if variant not in VARIANTS:
        raise IsotropeError(f"unknown variant '{variant}'{nearest(variant, VARIANTS)}; one of {', '.join(VARIANTS)}")
    if h.dim() != (3 if variant == "opt3" else 2):
        wanted = "(n, layers, d)" if variant == "opt3" else "(n, d)"
        raise IsotropeError(f"self_guided: {variant} takes h of shape {wanted}, not {tuple(h.shape)}")
    return VARIANTS[variant](c, h, temperature)


def _opt1(c: Tensor, h: Tensor, temperature: float | Tensor) -> Tensor:
    """L_i = -log( φ(c_i, h_i) / (Σ_{j≠i} φ(c_i, c_j) + Σ_j φ(c_i, h_j)) ), mean over n."""
    views = cosine(c, h) / temperature  # (n, n), the positives on the diagonal
    others = without_self(cosine(c, c) / temperature)  # (n, n)
    return cross_entropy(torch.cat([views, others], dim=1), torch.arange(len(c), device=c.device))


def _opt2(c: Tensor, h: Tensor, temperature: float | Tensor) -> Tensor:
    """L_i = -log( φ(c_i, h_i) / Σ_j φ(c_i, h_j) ), mean over n."""
    return info_nce(c, h, temperature)


def _opt2_official(c: Tensor, h: Tensor, temperature: float | Tensor) -> Tensor:
    """As opt2, but every sentence loses its first negative: h_1, and the first sentence h_2 (counted from 1).

    The published code lists the negatives of c_i as n - 1 of the c_j, then n - 1 of the h_j, and to leave out the c_j
    cuts off the first n.
    """
    lost = torch.zeros(len(c), len(h), dtype=torch.bool, device=c.device)
    lost[1:, :1] = True
    lost[:1, 1:2] = True
    logits = (cosine(c, h) / temperature).masked_fill(lost, -torch.inf)
    return cross_entropy(logits, torch.arange(len(c), device=c.device))


def _opt3(c: Tensor, h: Tensor, temperature: float | Tensor) -> Tensor:
    """L_i,k = -log( φ(c_i, h_i,k) / (φ(c_i, h_i,k) + Σ_{m≠i} Σ_l φ(c_i, h_m,l)) ), mean over n x layers."""
    n, layers, _ = h.shape
    logits = (cosine(c, h.flatten(0, 1)) / temperature).view(n, n, layers)  # (n, n, layers)
    positive = logits.diagonal().T  # (n, layers)
    own = torch.eye(n, dtype=torch.bool, device=c.device)[:, :, None]
    negatives = logits.masked_fill(own, -torch.inf).flatten(1).logsumexp(dim=1, keepdim=True)  # (n, 1)
    return -logsigmoid(positive - negatives).mean()


VARIANTS = {"opt1": _opt1, "opt2": _opt2, "opt2-official": _opt2_official, "opt3": _opt3}
