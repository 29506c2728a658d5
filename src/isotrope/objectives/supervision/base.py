"""What every kind of supervision has in common."""

from __future__ import annotations

from typing import Any, ClassVar

from torch import Tensor, nn

from isotrope.parts import Spec


class Supervision(Spec):
    """What is learnt from labelled pairs, beside, before or instead of the raw text."""

    texts: ClassVar[dict[str, str]] = {}  # what the learner calls a text -> its column
    labels: ClassVar[str | None] = None  # the column of labels

    def state(self, dim: int) -> nn.Module:
        """What it trains beside the student."""
        return nn.Module()

    def learn(self, learner: Any, item: dict[str, Any]) -> dict[str, Tensor]:
        """Its parts of the loss on one batch."""
        return {}

    def loss_of_views(self, state: Any, vectors: Tensor, labels: Tensor) -> Tensor:
        """Its loss of a batch whose texts stand side by side, (2n, dim): what an adversarial view goes against."""
        raise NotImplementedError
