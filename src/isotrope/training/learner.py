"""The learner: the one module that owns all trainable and persistent state.

Its state dict is the whole state of a method, so a checkpoint of it is exact, and several processes see every
parameter.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from isotrope.encoders import Encoder
from isotrope.encoders.backbone import Backbone, EmbeddingView
from isotrope.encoders.frozen import FrozenModel
from isotrope.encoders.packing import Batch
from isotrope.encoders.pieces import at_a_time
from isotrope.guides import Guide
from isotrope.heads.queue import MemoryQueue
from isotrope.heads.tower import Tower
from isotrope.io.errors import IsotropeError
from isotrope.objectives import anchor, gather
from isotrope.objectives.distillation.base import Vectors
from isotrope.objectives.matryoshka import matryoshka
from isotrope.recipes.schema import Stage
from isotrope.training.guided_negatives import GuidedNegatives
from isotrope.views.embedding import View
from isotrope.views.embedding.beside import Seen


class Learner(nn.Module):
    """Student, guide, heads, queue, and what objective and supervision train. `forward` is one step of any method."""

    def __init__(
        self, student: Encoder, guide: Guide, stage: Stage, frozen_dims: Mapping[FrozenModel, int] | None = None
    ) -> None:
        """`frozen_dims` has the width of each frozen encoder's vectors that the stage reads."""
        super().__init__()
        self.stage = stage
        self.student, self.guide = student, guide
        self.columns = len(stage.views.first.columns)
        std = getattr(student.backbone.config, "initializer_range", 0.02)
        self.tower = Tower(student.dim, guide.dim, stage.heads, std)
        self.lengths = stage.matryoshka.lengths(self.tower.out)
        self.queue = MemoryQueue(stage.queue.size, self.tower.out) if stage.queue.size else None
        dims, by = frozen_dims or {}, stage.negatives.guided_by
        self.guided = GuidedNegatives(stage.negatives, dims[FrozenModel(by)], stage.queue.size) if by else None
        stage.distillation.check_widths(student.dim, [dims[teacher] for teacher in stage.distillation.models])
        self.supervision_state = stage.supervision.state(student.dim)
        self.objective_state = stage.objective.state(student)
        needs_origin = stage.objective.anchor > 0 and guide.origin is None
        self.start = copy.deepcopy(student.backbone).requires_grad_(False) if needs_origin else None
        if stage.training.dropout is not None:
            set_dropout(student.backbone, stage.training.dropout)
        if stage.training.gradient_checkpointing:
            student.backbone.model.gradient_checkpointing_enable()
        if stage.training.freeze_embeddings:
            student.backbone.model.embeddings.requires_grad_(False)
        if stage.training.layers is not None:
            freeze_below(student, stage.training.layers)
        self.kept = student.copied().requires_grad_(False) if stage.training.keep_start else None

    @property
    def origin(self) -> Backbone | None:
        """The student's backbone as it was before training, where a frozen copy of it is kept."""
        return self.guide.origin or self.start

    def train(self, mode: bool = True) -> Learner:
        """Frozen parts stay in eval mode: nobody else has to remember."""
        super().train(mode)
        self.guide.keep_frozen()
        for frozen in (self.start, self.kept):
            if frozen is not None:
                frozen.eval()
        return self

    def tuned(self) -> Encoder:
        """The student as it is measured and saved: itself, or its weights averaged with those it started from.

        weights = keep_start * start + (1 - keep_start) * student      (WiSE-FT, Wortsman et al. 2022, equation 1)
        """
        if self.kept is None:
            return self.student
        averaged = self.student.copied()
        with torch.no_grad():
            for mine, start in zip(averaged.parameters(), self.kept.parameters(), strict=True):
                mine.lerp_(start, self.stage.training.keep_start)
        return averaged

    def forward(self, **item: Any) -> dict[str, Tensor]:
        """`loss`, and the parts that it is the sum of. The item is what `training.batches` lays out.

        first, second, negative    batches of the views; `taught` (n, dim): the guide's vectors where they are known
        premise, hypothesis        labelled pairs, and their `labels` (n,)
        plain                      the first texts as they stand, for teachers where no views are compared
        frozen                     what frozen encoders make of the texts, see `training.frozen`
        """
        with at_a_time(self.stage.training.gradient_cache):
            return self._step(item)

    def _step(self, item: dict[str, Any]) -> dict[str, Tensor]:
        objective = self.stage.objective
        parts = self.stage.supervision.learn(self, item)
        if objective.reads:
            parts[objective.label] = getattr(objective, "weight", 1.0) * objective.learn(self, item)
        if self.stage.distillation.models:
            parts |= self._distil(item)
        if objective.anchor and self.origin is not None:
            parts["anchor"] = objective.anchor * anchor(self.student.backbone.model, self.origin.model)
        return {"loss": torch.stack(list(parts.values())).sum(), **{k: part.detach() for k, part in parts.items()}}

    def compare_views(self, item: dict[str, Any]) -> Tensor:
        """The objective over the batch of all processes; both ways round where the recipe says so."""
        c, h = self.encode_views(item)
        keys = [self.tower.guide(one) for one in h]
        hard = keys.pop() if self.stage.views.negative else None
        guided_by = self.stage.negatives.guided_by
        frozen = self._frozen(FrozenModel(guided_by), item) if guided_by else {}
        directions = zip(c, keys, (("first", "second"), ("second", "first")), strict=False)
        losses = [self._compare(query, key, hard, frozen, sides) for query, key, sides in directions]
        if self.training and self.queue is not None:
            queued = self.guide.queued(item["first"])
            self.queue.remember(keys[0] if queued is None else self.tower.guide(self._gather(queued)))
            if self.guided is not None:
                self.guided.remember(frozen["second" if queued is None else "first"], _layers(keys[0]))
        return torch.stack(losses).mean()

    def encode_views(self, item: dict[str, Any]) -> tuple[list[Tensor], list[Tensor]]:
        """The student's vectors and the guide's over all processes, (n, dim) each or (n, layers, dim).

        One of either for each direction; behind the guide's, those of hard negatives. They are computed once in a step.
        """
        if "encoded" not in item:
            item["encoded"] = self._encode_views(item)
        encoded: tuple[list[Tensor], list[Tensor]] = item["encoded"]
        return encoded

    def after_step(self, progress: float) -> None:
        """What follows the optimiser's step: averaging, clamping, the queue. `progress` is the share of the run."""
        self.guide.after_step(self.student, progress)
        self.tower.after_step(self.guide, progress)
        self.stage.objective.after_step(self.objective_state)
        if self.queue is not None:
            self.queue.after_step()
        if self.guided is not None:
            self.guided.after_step()

    @property
    def acts_after_step(self) -> bool:
        """Whether `after_step` does anything."""
        learns = any(parameter.requires_grad for parameter in self.objective_state.parameters())
        moves = type(self.guide).after_step is not Guide.after_step
        return moves or learns or self.queue is not None

    def log_figures(self) -> dict[str, float]:
        """What the log has beside the loss and its parts."""
        return self.stage.objective.figures(self.objective_state)

    def _encode_views(self, item: dict[str, Any]) -> tuple[list[Tensor], list[Tensor]]:
        views = self.stage.views
        first = Seen(item["first"], self._seen(views.first, item["first"], item))
        second = Seen(item["second"], self._seen(views.second, item["second"], item))
        mine, theirs = [first], [second]
        if views.symmetric:
            mine, theirs = [first, second], [second, first]
        if views.negative:
            theirs = [*theirs, Seen(item["negative"])]
        if "taught" in item:
            c, h = self.guide.encode(self.student, mine, theirs[1:])
            h = [item["taught"], *h]
        else:
            c, h = self.guide.encode(self.student, mine, theirs)
        return [self._gather(one) for one in c], [self._gather(one) for one in h]

    def _seen(self, view: View, batch: Batch, item: dict[str, Any]) -> EmbeddingView | None:
        labels = item.get("labels")
        if labels is None:
            return view.on(batch, self.student, None)
        return view.on(
            batch, self.student, partial(self.stage.supervision.loss_of_views, self.supervision_state, labels=labels)
        )

    def _gather(self, vectors: Tensor) -> Tensor:
        """Those of all processes, in the order of one process: column by column.

        What is measured, in eval mode, is a batch that each of them has as a whole.
        """
        return torch.cat([gather(column) for column in vectors.chunk(self.columns)]) if self.training else vectors

    def _distil(self, item: dict[str, Any]) -> dict[str, Tensor]:
        """What teachers add to the loss, over the batch of all processes."""
        if self.stage.compares:
            (first, *_), (second, *_) = self.encode_views(item)
        else:
            seen = self._seen(self.stage.views.first, item["plain"], item)
            first = second = self._gather(self.student(item["plain"], seen))
        student = Vectors(first, second if self.stage.student_sees_both else first)
        frozen = [self._frozen(teacher, item) for teacher in self.stage.distillation.models]
        teachers = [Vectors(found["first"], found.get("second", found["first"])) for found in frozen]
        return self.stage.distillation(student, teachers)

    def _frozen(self, model: FrozenModel, item: dict[str, Any]) -> dict[str, Tensor]:
        """What a frozen encoder makes of the texts of each side, over all processes, (n, its dim)."""
        return {side: self._gather(vectors) for (by, side), vectors in item["frozen"].items() if by == model}

    def _compare(
        self, c: Tensor, h: Tensor, hard: Tensor | None, frozen: dict[str, Tensor], sides: tuple[str, str]
    ) -> Tensor:
        """The objective. Heads see the whole gathered batch, so batch norm is that of one process.

        Where columns are contrasted apart, the objective is each one's own, and the mean of theirs. `sides` are those
        that `c` and `h` are of.
        """
        queue = None if self.queue is None else self.queue()
        parts = self.columns if self.stage.views.contrast == "by-column" else 1
        outs: list[Tensor | None] = [None] * parts
        if self.guided is not None:
            texts = zip(*(frozen[side].chunk(parts) for side in sides), strict=True)
            outs = [self.guided(*pair, frozen.get("negative"), _layers(h)) for pair in texts]
        pairs = zip(self.tower.student(c).chunk(parts), h.chunk(parts), outs, strict=True)
        compare, state = self.stage.objective, self.objective_state

        def loss(query: Tensor, keys: Tensor, out: Tensor | None, cut: Callable[[Tensor], Tensor]) -> Tensor:
            further = {"queue": None if queue is None else cut(queue), "hard": None if hard is None else cut(hard)}
            return compare(cut(query), cut(keys), state, left_out=out, **further)

        return torch.stack([matryoshka(partial(loss, *pair), self.lengths) for pair in pairs]).mean()


def _layers(vectors: Tensor) -> int:
    """How many there are of each text: (n, dim) or (n, layers, dim)."""
    return vectors[0].numel() // vectors.shape[-1]


def freeze_below(student: Encoder, layers: int) -> None:
    """Leaves only the last `layers` layers below the pooling to learn, and what stands behind them."""
    backbone = student.backbone
    top = student.pooling.mixed_layers(backbone.layers)[-1]
    if layers > top:
        raise IsotropeError(f"training.layers {layers}: this encoder has {top} layers below its pooling")
    for parameter in backbone.below(top - layers):
        parameter.requires_grad_(False)
    if layers and not any(parameter.requires_grad for parameter in backbone.below(top)):
        raise IsotropeError(f"training.layers {layers}: all layers of this encoder share their weights; leave it out")


def set_dropout(model: nn.Module, rate: float) -> None:
    """Dropout of every layer, attention included. The configuration, and so what is saved, keeps its own."""
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = rate
        names = [name for name, value in vars(module).items() if isinstance(value, float)]
        for name in names:
            if name.endswith(("dropout", "dropout_prob")):
                setattr(module, name, rate)
