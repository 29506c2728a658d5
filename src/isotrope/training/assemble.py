"""A recipe's stage as living parts: student, guide, learner, batches, and the encoder that is left in the end."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from isotrope.encoders import Encoder, load
from isotrope.encoders.after_pooling import without_last_normalize
from isotrope.encoders.frozen import START
from isotrope.guides import Guide
from isotrope.io.errors import IsotropeError
from isotrope.recipes.schema import Recipe, Stage
from isotrope.text.corpus import Corpus
from isotrope.text.plan import Plan
from isotrope.training.batches import StageBatches, laid_out
from isotrope.training.frozen import Frozen, FrozenEncoders, FrozenVectors, vectors_on_disk
from isotrope.training.learner import Learner
from isotrope.training.processes import main_process_first, rank_and_world
from isotrope.training.reading import prepare_draws

PROBED = 4  # made-up sentences on which a learner is tried
PROBED_TOKENS = 6


def trained_student(encoder: Encoder, stage: Stage) -> Encoder:
    """The encoder with its training pooling, and not normalised in the end: the objectives take cosines themselves."""
    student = encoder.with_pooling(stage.pooling.training)
    return student.with_after_pooling(without_last_normalize(student.after_pooling)[0])


def finished(student: Encoder, started: Encoder, stage: Stage) -> Encoder:
    """The student as it is saved and measured: with the evaluation pooling, normalised if the encoder was."""
    result = student.with_pooling(started.with_pooling(stage.pooling.evaluation).pooling)
    result.matryoshka_dimensions = tuple(stage.matryoshka.lengths(student.dim)) if stage.matryoshka.dims else ()
    return result.with_after_pooling([*result.after_pooling, *without_last_normalize(started.after_pooling)[1]])


def handed_on(student: Encoder, started: Encoder, stage: Stage) -> Encoder:
    """The student as the next stage gets it: as it is saved, or still with the MLP that it learnt with."""
    if not stage.pooling.keep_mlp:
        return finished(student, started, stage)
    return student.with_after_pooling([*student.after_pooling, *without_last_normalize(started.after_pooling)[1]])


def with_teacher(recipe: Recipe, teacher: str) -> dict[str, Any]:
    """Settings that make `teacher` the one that every stage learns from: its guide, where that is another encoder and
    was not made before, and in place of teachers that are distilled and are not what the stage starts from.
    """
    if not takes_teacher(recipe):
        raise IsotropeError(f"recipe {recipe.name} has no guide that is another encoder; leave out the teacher")
    settings: dict[str, Any] = {}
    for k, stage in enumerate(recipe.stages):
        if stage.guide.settings().get("model", "previous") != "previous":
            settings[f"stages.{k}.guide.model"] = teacher
        if _taught_by_others(stage):
            settings |= {f"stages.{k}.distillation.{key}": "default" for key in ("alpha", "teacher_pooling")}
            settings[f"stages.{k}.distillation.teachers"] = [teacher]
    return settings


def takes_teacher(recipe: Recipe) -> bool:
    """Whether any stage learns from another encoder."""
    return any("model" in stage.guide.settings() or _taught_by_others(stage) for stage in recipe.stages)


def _taught_by_others(stage: Stage) -> bool:
    return bool({one.name for one in stage.distillation.models} - {START})


def make_guide(stage: Stage, student: Encoder, previous: Encoder) -> Guide:
    """The guide that a stage names; `previous` is the encoder that the stage before made."""

    def another(name: str | None, pooling: str | None) -> Encoder:
        if name is None:
            raise IsotropeError("this recipe's guide is another encoder: name it with teacher=", argument="teacher=")
        return previous.copied() if name == "previous" else load(name, pooling=pooling)

    return stage.guide.build(student, another)


def make_learner(stage: Stage, started: Encoder, previous: Encoder, frozen: FrozenEncoders | None = None) -> Learner:
    """Student, guide, heads and queue of a stage that starts from an encoder."""
    student = trained_student(started, stage)
    dims = (frozen or FrozenEncoders(started)).dims(stage)
    return Learner(student, make_guide(stage, student, previous), stage, dims).to(started.device)


def probe(recipe: Recipe, model: Encoder) -> None:
    """Builds the learner of every stage and lets it take one step on made-up sentences: what can't work fails here.

    The encoder itself stays as it is, and so does the state of all random generators.
    """
    with torch.random.fork_rng():
        encoder = model
        for stage in recipe.stages:
            started = _start(stage, model, encoder).copied()  # which an exported one refuses
            if not stage.learns:
                continue
            frozen = FrozenEncoders(started)
            for named in {one for side in stage.reads for one in getattr(stage.views, side).draw.models}:
                frozen[named]  # it must be there
            learner = make_learner(stage, started, encoder, frozen).train()
            item = _made_up(stage, learner, frozen)
            try:
                loss = learner(**item)["loss"]
                loss.backward()
            except (RuntimeError, ValueError, TypeError, IndexError, KeyError, AttributeError) as error:
                reason = " ".join(str(error).split())[:200]
                raise IsotropeError(f"recipe {recipe.name}: the first step fails: {reason}") from error
            if not bool(loss.isfinite()):
                raise IsotropeError(f"recipe {recipe.name}: the loss of the first step is {float(loss.detach())}")
            learner.after_step(1.0)
            encoder = finished(learner.tuned(), started, stage)


def _start(stage: Stage, model: Encoder, previous: Encoder) -> Encoder:
    """What a stage starts from."""
    if stage.start == "previous":
        return previous
    return model if stage.start == "model" else load(stage.start, device=str(model.device))


def _made_up(stage: Stage, learner: Learner, frozen: FrozenEncoders) -> dict[str, object]:
    """A batch of random words, as `laid_out` would give it."""
    student, reader = learner.student, learner.guide.reader or learner.student

    def ids(encoder: Encoder, view: str, column: str) -> list[list[int]]:
        words = torch.randint(len(encoder.tokenizer), (PROBED, PROBED_TOKENS)).tolist()
        texts = encoder.tokenizer.batch_decode(words, skip_special_tokens=True)
        return encoder.tokenize(texts, stage.training.max_length)

    def vectors(encoder: Encoder, side: str) -> Tensor:
        texts = [one for column in stage.columns_of(side) for one in ids(encoder, side, column)]
        found: Tensor = encoder(encoder.lay_out(texts).to(encoder.device))
        return found

    item = laid_out(stage, student, reader, ids)
    if stage.supervision.labels:
        item["labels"] = torch.zeros(PROBED, dtype=torch.long)
    if stage.frozen:
        with torch.no_grad():
            item["frozen"] = Frozen({(model, side): vectors(frozen[model], side) for model, side in stage.frozen})
        learner.train()
    item = stage.objective.prepare(item, student.tokenizer, torch.Generator().manual_seed(0))
    return {name: value.to(student.device) for name, value in item.items()}


def make_batches(
    corpus: Corpus,
    plan: Plan,
    stage: Stage,
    student: Encoder,
    guide: Guide,
    folder: Path,
    encoders: FrozenEncoders,
    held_out: Sequence[int] = (),
) -> StageBatches:
    """The run's batches; what frozen encoders make of them comes from disk where the recipe says so."""
    reader = guide.reader or student
    with main_process_first():
        draws = prepare_draws(stage, corpus, held_out, student, encoders, folder)
    cached = None
    if stage.guide.constant:
        (column,) = stage.views.second.columns
        cached = vectors_on_disk(folder / "teacher", corpus, column, reader, stage)
    frozen = FrozenVectors(stage, corpus, encoders, folder) if stage.frozen else None
    rank, world = rank_and_world()
    return StageBatches(
        corpus, plan, stage, student, reader, draws=draws, taught=cached, frozen=frozen, rank=rank, world=world
    )
