"""What is measured on the way: development score, label-free figures, and whether the vectors are collapsing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch

from isotrope.encoders import Encoder
from isotrope.encoders.packing import Batch
from isotrope.evaluation.geometry import alignment, effective_rank, mean_cosine, uniformity
from isotrope.training.learner import Learner

Score = Callable[[Encoder], float]
NEAR_ONE = 0.95  # mean cosine of random sentences above which they are hardly told apart
RANK_LOST = 0.5  # share of the first effective rank below which directions are being lost


@dataclass
class Watch:
    """Measures the learner's student. `held_out` is a batch of rows that is never trained on."""

    held_out: dict[str, Any]
    evaluated: Callable[[], Encoder]  # the student as it would be saved now
    score: Score | None = None
    first_rank: float | None = field(default=None, init=False)

    @torch.no_grad()
    def figures(self, learner: Learner) -> dict[str, float]:
        """`spearman` with a development set; always the label-free ones. Draws from no global random state."""
        device = learner.student.device
        batch = {name: value.to(device) for name, value in self.held_out.items()}
        was_training = learner.training
        with torch.random.fork_rng():
            torch.manual_seed(0)
            learner.eval()
            loss = float(learner(**batch)["loss"])
            text = batch.get("first", batch.get("premise"))
            assert isinstance(text, Batch)
            vectors = learner.student(text)
            learner.train()  # two texts of one meaning where there are two, else what dropout makes of one
            other = batch.get("second", text) if learner.guide.reader is None else text
            pair = learner.student(text), learner.student(other)
        learner.train(was_training)
        found = {
            "held_out_loss": loss,
            "alignment": float(alignment(*pair)),
            "uniformity": float(uniformity(vectors)),
            "effective_rank": float(effective_rank(vectors)),
            "mean_cosine": float(mean_cosine(vectors)),
        }
        if self.score is not None:
            found = {"spearman": self.score(self.evaluated()), **found}
        return found

    def collapse(self, figures: dict[str, float]) -> str | None:
        """In words, what is going wrong; None while nothing is."""
        rank, cosine = figures["effective_rank"], figures["mean_cosine"]
        self.first_rank = self.first_rank or rank
        if cosine > NEAR_ONE:
            return f"the vectors are collapsing: random sentences have a mean cosine of {cosine:.3f}, all look alike"
        if rank < RANK_LOST * self.first_rank:
            return (
                f"the vectors are collapsing: their effective rank fell from {self.first_rank:.1f} to {rank:.1f}, "
                "most directions are no longer used"
            )
        return None
