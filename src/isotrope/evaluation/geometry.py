"""How sentence vectors lie in space, without any labels. Means are over distinct pairs; of one vector they are nan."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional


def alignment(x: Any, y: Any) -> float:
    """Mean squared distance of the normalised vectors of positive pairs, both (pairs, dim); 0 is best.

    Wang and Isola (2020), Section 4.1, alpha = 2: E ||f(x) - f(y)||^2.
    """
    return float((_unit(x) - _unit(y)).square().sum(1).mean())


def uniformity(x: Any, t: float = 2) -> float:
    """How evenly the normalised vectors (sentences, dim) cover the sphere: 0 if all are one point; lower is better.

    Wang and Isola (2020), Section 4.1: log E exp(-t ||f(x) - f(y)||^2).
    """
    return float(torch.pdist(_unit(x)).square().mul(-t).exp().mean().log())


def mean_cosine(x: Any) -> float:
    """Mean cosine of two different vectors of x (sentences, dim): 1 in a vanishing cone, about 0 if isotropic."""
    unit = _unit(x)
    pairs = len(unit) * (len(unit) - 1)
    return float((unit.sum(0).square().sum() - unit.square().sum()) / pairs)  # |sum|^2 holds each vector with itself


def effective_rank(x: Any) -> float:
    """How many dimensions the vectors (sentences, dim) really use: 1 on one line, at most min(sentences, dim).

    Roy and Vetterli (2007), Definition 1: exp of the entropy of the singular values, normalised to sum 1.
    """
    singular = torch.linalg.svdvals(_vectors(x))
    return float(torch.special.entr(singular / singular.sum()).sum().exp())


def _vectors(x: Any) -> Tensor:
    """Array or tensor -> float64 on the CPU (not every device has it)."""
    return torch.as_tensor(x).detach().cpu().double()


def _unit(x: Any) -> Tensor:
    return functional.normalize(_vectors(x), dim=1)
