"""The learner: the one module that owns all that trains or is remembered.

Its state dict is the whole state of a method, so a checkpoint of it is exact, and several processes see every
parameter.
"""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import Tensor, nn

from isotrope import views
from isotrope.encoders import Encoder
from isotrope.encoders.backbone import Backbone, EmbeddingView
from isotrope.encoders.packing import Batch
from isotrope.guides import FrozenLayers, Guide
from isotrope.io.errors import IsotropeError
from isotrope.objectives import anchor, gather, nli_classification, nli_width_factor
from isotrope.recipes.schema import Stage
from isotrope.training.compare import compare
from isotrope.training.heads import Temperature, predictor_head, projection_head, set_dropout
from isotrope.training.masked_lm import masked_lm_head, masked_lm_loss
from isotrope.views import Adversarial

LABELS = 3  # entailment, neutral, contradiction


class Learner(nn.Module):
    """Student, guide, heads, temperature, classifier. `forward` is one step of any of the four papers."""

    def __init__(self, student: Encoder, guide: Guide, stage: Stage) -> None:
        super().__init__()
        self.stage = stage
        self.student, self.guide = student, guide
        dim = student.dim
        heads, objective = stage.heads, stage.objective
        std = getattr(student.backbone.config, "initializer_range", 0.02)
        self.project = projection_head(dim, **heads.projection.model_dump(), std=std) if heads.projection else None
        self.predict = _student_side(dim, guide, stage)
        self.temperature = Temperature(objective.temperature, learnable=objective.learnable_temperature)
        self.columns = len(stage.views.first.columns)
        self.first_view, self.second_view = (_view(view) for view in (stage.views.first, stage.views.second))
        supervised = stage.supervision.kind == "nli"
        width = nli_width_factor(stage.supervision.maximum) * dim
        self.classifier = nn.Linear(width, LABELS) if supervised else None
        self.language_model = masked_lm_head(student) if objective.kind == "mlm" else None
        needs_origin = objective.anchor > 0 and not isinstance(guide, FrozenLayers)
        self.start = copy.deepcopy(student.backbone).requires_grad_(False) if needs_origin else None
        if stage.training.dropout is not None:
            set_dropout(student.backbone, stage.training.dropout)
        if stage.training.gradient_checkpointing:
            student.backbone.model.gradient_checkpointing_enable()
        if stage.training.freeze_embeddings:
            student.backbone.model.embeddings.requires_grad_(False)

    @property
    def origin(self) -> Backbone | None:
        """The student's backbone as it was before training, where a frozen copy of it is kept."""
        return self.guide.backbone if isinstance(self.guide, FrozenLayers) else self.start

    def train(self, mode: bool = True) -> Learner:
        """Frozen parts stay in eval mode: nobody else has to remember."""
        super().train(mode)
        self.guide.keep_frozen()
        if self.start is not None:
            self.start.eval()
        return self

    def forward(
        self,
        first: Batch | None = None,
        second: Batch | None = None,
        negative: Batch | None = None,
        taught: Tensor | None = None,
        premise: Batch | None = None,
        hypothesis: Batch | None = None,
        labels: Tensor | None = None,
        targets: Tensor | None = None,
    ) -> dict[str, Tensor]:
        """`loss`, and the parts that it is the sum of. `taught` are the guide's vectors where they are known."""
        parts: dict[str, Tensor] = {}
        objective, supervision = self.stage.objective, self.stage.supervision
        if labels is not None and premise is not None and hypothesis is not None:
            parts["nli"] = supervision.weight * self._classify(self.student(premise), self.student(hypothesis), labels)
        if targets is not None and first is not None:
            parts["mlm"] = masked_lm_loss(self.language_model, self.student.backbone, first, targets)
        elif first is not None and second is not None:
            parts["contrast"] = objective.weight * self._contrast(first, second, negative, taught, labels)
        if objective.anchor and self.origin is not None:
            parts["anchor"] = objective.anchor * anchor(self.student.backbone.model, self.origin.model)
        return {"loss": torch.stack(list(parts.values())).sum(), **{k: part.detach() for k, part in parts.items()}}

    def after_step(self, progress: float) -> None:
        """What follows the optimiser's step: averaging, clamping."""
        self.guide.after_step(self.student, progress)
        self.temperature.clamp()

    def _contrast(
        self, first: Batch, second: Batch, negative: Batch | None, taught: Tensor | None, labels: Tensor | None
    ) -> Tensor:
        """The objective over the batch of all processes; both ways round where the recipe says so."""
        view = self._adversarial(first, labels) if isinstance(self.first_view, Adversarial) else self.first_view
        c = self._gather(self.student(first, view))  # (n, dim)
        h = self._gather(self.guide(second, self.student, self.second_view) if taught is None else taught)
        hard = self._gather(self.student(negative)) if negative is not None else None
        loss = self._compare(c, h, hard)
        if self.stage.views.symmetric:
            back = self._gather(self.student(second, self.second_view))
            there = self._gather(self.guide(first, self.student, view))
            loss = 0.5 * loss + 0.5 * self._compare(back, there, hard)
        if self.training:
            self.guide.remember(h)
        return loss

    def _gather(self, vectors: Tensor) -> Tensor:
        """Those of all processes, in the order of one process: column by column.

        What is measured, in eval mode, is a batch that each of them has as a whole.
        """
        return torch.cat([gather(column) for column in vectors.chunk(self.columns)]) if self.training else vectors

    def _compare(self, c: Tensor, h: Tensor, hard: Tensor | None) -> Tensor:
        """Heads, then the objective. They see the whole gathered batch, so batch norm is that of one process.

        Where columns are contrasted apart, the objective is each one's own, and the mean of theirs.
        """
        if self.project is not None:
            c, h = self.project(c), self.project(h)
            hard = self.project(hard) if hard is not None else None
        given = {"temperature": self.temperature(), "queue": self.guide.negatives(), "hard": hard}
        parts = self.columns if self.stage.views.contrast == "by-column" else 1
        pairs = zip(self.predict(c).chunk(parts), h.chunk(parts), strict=True)
        return torch.stack([compare(self.stage.objective, *pair, **given) for pair in pairs]).mean()

    def _classify(self, u: Tensor, v: Tensor, labels: Tensor) -> Tensor:
        assert self.classifier is not None
        return nli_classification(u, v, labels, self.classifier, maximum=self.stage.supervision.maximum)

    def _adversarial(self, first: Batch, labels: Tensor | None) -> EmbeddingView:
        """The attack on this batch, whose first half are premises and whose second half are hypotheses."""
        attack: Any = self.first_view
        if labels is None or len(first.lengths) != 2 * len(labels):
            raise IsotropeError("the adversarial view needs views.first.column = ['sentence1', 'sentence2'] and labels")
        n = len(labels)
        return views.fast_gradient_view(
            self.student,
            first,
            lambda vectors: self._classify(vectors[:n], vectors[n:], labels),
            attack.epsilon,
            norm=attack.norm,
            at=attack.at,
        )


def _student_side(dim: int, guide: Guide, stage: Stage) -> nn.Module:
    """What only the student's vectors go through: the predictor, or a linear map to a teacher of another size."""
    out = guide.reader.dim if guide.reader is not None else dim
    if stage.heads.predictor is not None:
        return predictor_head(dim, out, **stage.heads.predictor.model_dump())
    return nn.Identity() if out == dim else nn.Linear(dim, out)


def _view(view: Any) -> EmbeddingView | None:
    """No view at all where nothing is done to the embeddings."""
    if view.kind == "none":
        return None
    made: EmbeddingView = views.make(view.kind, view.rate, view.variant, **view.fields)
    return made
