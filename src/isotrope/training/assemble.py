"""A recipe's stage as living parts: student, guide, batches, and the encoder that is left in the end."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path

from isotrope.encoders import Encoder, load
from isotrope.encoders.heads import is_normalize
from isotrope.guides import Dual, FrozenLayers, Guide, Itself, Momentum, Teacher
from isotrope.io.errors import IsotropeError
from isotrope.recipes.schema import Recipe, Stage
from isotrope.text.corpus import Corpus
from isotrope.text.plan import Plan
from isotrope.training.batches import StageBatches
from isotrope.training.checkpoints import writing
from isotrope.training.processes import is_main_process, main_process_first, rank_and_world
from isotrope.training.teacher_cache import VectorCache


def trained_student(encoder: Encoder, stage: Stage) -> Encoder:
    """The encoder with its training pooling, and without normalisation: the objectives take cosines themselves."""
    student = encoder.with_pooling(stage.pooling.training)
    return student.with_tail(module for module in student.tail if not is_normalize(module))


def finished(student: Encoder, started: Encoder, stage: Stage) -> Encoder:
    """The student as it is saved and measured: with the evaluation pooling, normalised if the encoder was."""
    result = student.with_pooling(stage.pooling.evaluation)
    return result.with_tail([*result.tail, *(module for module in started.tail if is_normalize(module))])


def check_teachers(recipe: Recipe) -> None:
    """Each stage that has a teacher names it."""
    for stage in recipe.stages:
        if stage.guide.kind in ("teacher", "dual"):
            teacher_name(stage)


def teacher_name(stage: Stage) -> str:
    """Whom a stage's guide is loaded from."""
    if stage.guide.model is None:
        raise IsotropeError("this recipe's guide is another encoder: name it with --teacher MODEL")
    return stage.guide.model


def make_guide(stage: Stage, student: Encoder, previous: Encoder) -> Guide:
    """The guide that a stage names."""
    guide = stage.guide

    def teacher() -> Encoder:
        name = teacher_name(stage)
        return copy.deepcopy(previous) if name == "previous" else load(name, pooling=guide.model_pooling)

    made: dict[str, Callable[[], Guide]] = {
        "self": Itself,
        "frozen-layers": lambda: FrozenLayers(
            student,
            pooling=guide.pooling,
            layers=guide.layers,
            sampler=guide.sampler,
            weights=guide.weights,
            k=guide.k,
            dropout=guide.dropout,
        ),
        "momentum": lambda: Momentum(
            student, momentum=guide.momentum, schedule=guide.schedule, buffers=guide.buffers, dropout=guide.dropout
        ),
        "teacher": lambda: Teacher(teacher(), queue=guide.queue, dropout=guide.dropout),
        "dual": lambda: Dual(teacher(), queue=guide.queue),
    }
    return made[guide.kind]()


def make_batches(
    corpus: Corpus, plan: Plan, stage: Stage, student: Encoder, guide: Guide, folder: Path
) -> StageBatches:
    """The run's batches; a frozen teacher's vectors come from disk where the recipe says so."""
    reader = guide.reader or student
    cached = None
    column = stage.views.second.column
    if stage.guide.cache and guide.frozen and guide.reader is not None and isinstance(column, str):
        with main_process_first():
            cached = VectorCache(folder / "teacher", len(corpus), reader.dim)
            if is_main_process():
                with writing(folder / "teacher"):
                    cached.fill(corpus, column, reader, stage.training.batch_size, stage.training.max_length)
    rank, world = rank_and_world()
    return StageBatches(corpus, plan, stage, student, reader, taught=cached, rank=rank, world=world)
