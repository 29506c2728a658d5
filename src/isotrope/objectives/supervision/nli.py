"""Natural language inference as a classification of sentence pairs: the supervised loss of paper 2 (and of SBERT)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Literal

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from isotrope.objectives.similarity import in_full
from isotrope.objectives.supervision.base import Supervision

LABELS = 3  # entailment, neutral, contradiction


class Nli(Supervision):
    """Cross-entropy of the NLI label (paper 2, SBERT). `maximum`: max(u, v)² too, as ConSERT's published scripts."""

    kind: Literal["nli"] = "nli"
    weight: float = Field(default=1.0, gt=0)
    maximum: bool = False
    texts: ClassVar[dict[str, str]] = {"premise": "sentence1", "hypothesis": "sentence2"}
    labels: ClassVar[str | None] = "label"

    def state(self, dim: int) -> nn.Module:
        """The classifier."""
        return nn.Linear(nli_width_factor(self.maximum) * dim, LABELS)

    def learn(self, learner: Any, item: dict[str, Any]) -> dict[str, Tensor]:
        """Its loss on the pairs of a batch."""
        u, v = learner.student(item["premise"]), learner.student(item["hypothesis"])
        return {"nli": self.weight * self._loss(learner.supervision_state, u, v, item["labels"])}

    def loss_of_views(self, state: Any, vectors: Tensor, labels: Tensor) -> Tensor:
        """Premises are the first half, hypotheses the second."""
        u, v = vectors.chunk(2)
        return self._loss(state, u, v, labels)

    def _loss(self, classifier: Any, u: Tensor, v: Tensor, labels: Tensor) -> Tensor:
        return nli_classification(u, v, labels, classifier, maximum=self.maximum)


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
