"""Natural language inference as a classification of sentence pairs: the supervised loss of paper 2 (and of SBERT)."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from isotrope.objectives.similarity import in_full


def nli_classification(
    u: Tensor, v: Tensor, labels: Tensor, classifier: Callable[[Tensor], Tensor], *, maximum: bool = False
) -> Tensor:
    """L^ce of paper 2: cross-entropy of classifier([u; v; |u - v|]), mean over n.

    `u`, `v` (n, d), `labels` (n,); `classifier` maps (n, `nli_width_factor(maximum)` x d) to (n, classes). With
    `maximum`, max(u, v)², element by element, is appended, as ConSERT's published scripts do.
    """
    features = [u, v, (u - v).abs()]
    if maximum:
        features.append(torch.maximum(u, v).square())
    return cross_entropy(in_full(classifier(torch.cat(features, dim=1))), labels)


def nli_width_factor(maximum: bool = False) -> int:
    """How many vectors of length d the classifier reads side by side."""
    return 4 if maximum else 3
