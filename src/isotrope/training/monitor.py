"""What is measured on the way: development score, label-free figures, and whether the vectors are collapsing."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor

from isotrope.encoders import Encoder
from isotrope.encoders.packing import Batch
from isotrope.encoders.precision import encoding_in
from isotrope.evaluation.geometry import alignment, effective_rank, mean_cosine, uniformity
from isotrope.training.learner import Learner
from isotrope.views.embedding import View

Score = Callable[[Encoder], dict[str, float]]  # on a development set; `spearman` chooses among checkpoints
NEAR_ONE = 0.95  # mean cosine of random sentences above which they are hardly told apart
LOST = 0.5  # share of the rank, or of the room below a cosine of 1, that there was at first: less is a collapse


@dataclass
class Monitor:
    """Measures the learner's student on a fixed batch, which may be `held_out`: never trained on."""

    batch: dict[str, Any]
    held_out: bool
    evaluated: Callable[[], Encoder]  # the student as it would be saved now
    score: Score | None = None

    @torch.no_grad()
    def figures(self, learner: Learner) -> dict[str, float]:
        """Those of the development set if there is one, and the label-free ones. Draws from no global random state."""
        device = learner.student.device
        batch = {name: value.to(device) for name, value in self.batch.items()}
        was_training = learner.training
        with torch.random.fork_rng():
            torch.manual_seed(0)
            learner.eval()
            loss = float(learner(**batch)["loss"])
            text: Batch = next(batch[name] for name in ("plain", "first", "premise") if name in batch)
            tuned = learner.tuned()
            vectors = tuned(text)
            learner.train()
            tuned.train()
            pair = _seen(tuned, text, learner.stage.views.first), _of_one_meaning(learner, tuned, batch, text)
        learner.train(was_training)
        found = {
            "alignment": float(alignment(*pair)),
            "uniformity": float(uniformity(vectors)),
            "effective_rank": float(effective_rank(vectors)) if bool(vectors.isfinite().all()) else math.nan,
            "mean_cosine": float(mean_cosine(vectors)),
        }
        if self.held_out and learner.queue is None:  # which fills up on the way, and with it the loss
            found["held_out_loss"] = loss
        if self.score is not None:
            encoder = self.evaluated()
            with encoding_in(learner.stage.training.precision, encoder):
                found = {**self.score(encoder), **found}
        return found


def _of_one_meaning(learner: Learner, tuned: Encoder, batch: Mapping[str, Any], text: Batch) -> Tensor:
    """What the vectors of a text should be near: those of the other text, where there are two, by whoever reads it;
    else what views and dropout make of the text itself.
    """
    stage, reader = learner.stage, learner.guide.reader
    if reader is None:
        return _seen(tuned, batch.get("second", text), stage.views.second)
    if stage.heads.both or reader.dim != tuned.dim:  # a head makes the two sides alike, and none is saved
        return _seen(tuned, text, stage.views.second)
    if "taught" in batch:
        taught: Tensor = batch["taught"]
        return taught
    translated: Tensor = learner.guide(batch["second"], tuned)
    return translated


def _seen(student: Encoder, batch: Batch, view: View) -> Tensor:
    """Vectors of a batch as a view shows it; one that goes against a supervised loss is left out."""
    vectors: Tensor = student(batch, None if view.needs_labels else view.on(batch, student, None))
    return vectors


def collapse(figures: Mapping[str, float], first: Mapping[str, float]) -> str | None:
    """In words, what is going wrong, judged by the figures before the first step; None while nothing is."""
    rank, cosine = figures["effective_rank"], figures["mean_cosine"]
    if cosine > NEAR_ONE and 1 - cosine < LOST * (1 - first["mean_cosine"]):  # some encoders begin in a narrow cone
        return f"the vectors are collapsing: random sentences have a mean cosine of {cosine:.3f}, so all look alike"
    if rank < LOST * first["effective_rank"]:
        return (
            f"the vectors are collapsing: their effective rank fell from {first['effective_rank']:.1f} "
            f"to {rank:.1f}, most directions are no longer used"
        )
    return None


def evaluations_without_gain(history: Sequence[Mapping[str, float]]) -> int:
    """How many development scores behind the first step have come since the best of them."""
    scores = [score if score > -math.inf else -math.inf for score in _scores(history)]  # nan too
    return len(scores) - 1 - scores.index(max(scores)) if scores else 0


def drops(history: Sequence[Mapping[str, float]]) -> int:
    """How many development scores behind the first step were below the one before, or the first of them below 0.

    So the published code of paper 1 counts: a gain forgives nothing.
    """
    return sum(now < before for before, now in pairwise([0.0, *_scores(history)]))


PATIENCE = {"no-new-best": evaluations_without_gain, "drops": drops}


def _scores(history: Sequence[Mapping[str, float]]) -> list[float]:
    return [line["eval_spearman"] for line in history if "eval_spearman" in line and line["step"] > 0]
