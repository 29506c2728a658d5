"""How sentence vectors lie in space, without any labels. Means are over distinct pairs; of one vector they are nan."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

Floats = NDArray[np.float64]


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


def spectrum(x: Any) -> Floats:
    """The singular-value spectrum of the vectors (sentences, dim) as shares: how much of their squared length lies in
    each principal direction, the largest first, (min(sentences, dim),). They sum to 1, the first k to the share of k.

    About the origin, not the mean: what all sentences have in common is a direction too, and often the first.
    """
    energy = torch.linalg.svdvals(_vectors(x)).square()
    shares: Floats = (energy / energy.sum()).numpy()
    return shares


def partition_isotropy(x: Any) -> float:
    """How alike the vectors (sentences, dim), normalised, look from every direction: 1 is isotropic, above 0.13.

    Mu and Viswanath (2018), Section 2.1: min Z(c) / max Z(c), Z(c) = sum exp(c . x), over the principal directions c,
    here both ways: where all vectors lie on one side, that is what it shows.
    """
    unit = _unit(x)
    directions = torch.linalg.svd(unit, full_matrices=False).Vh  # (min(sentences, dim), dim)
    projected = unit @ torch.cat([directions, -directions]).T
    partition = projected.exp().sum(0)
    return float(partition.min() / partition.max())


def iso_score(x: Any) -> float:
    """How evenly the vectors (sentences, dim), about their mean, use all dimensions: 0 on one line, 1 in a ball.

    Rudman et al. (2022), Algorithm 1. Its steps come down to (k - 1) / (dim - 1), with k = (sum v)^2 / sum v^2 of the
    variances v along the principal axes: k dimensions used alike would give the same.
    """
    vectors = _vectors(x)
    variances = torch.linalg.svdvals(vectors - vectors.mean(0)).square()
    used = variances.sum().square() / variances.square().sum()
    return float((used - 1) / (vectors.shape[1] - 1))


def _vectors(x: Any) -> Tensor:
    """Array or tensor -> float64 on the CPU (not every device has it)."""
    return torch.as_tensor(x).detach().cpu().double()


def _unit(x: Any) -> Tensor:
    return functional.normalize(_vectors(x), dim=1)
