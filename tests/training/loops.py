"""Loops that train a small encoder on bundled sentences, and what they leave; for the tests beside."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor

import isotrope
from isotrope import recipes
from isotrope.text import bundled_sentences
from isotrope.text.corpus import build_corpus
from isotrope.text.plan import plan_batches
from isotrope.training.assemble import finished, make_batches, make_learner
from isotrope.training.bar import RunBar
from isotrope.training.frozen import FrozenEncoders
from isotrope.training.loop import Loop
from isotrope.training.monitor import Monitor
from isotrope.training.stage_loop import stage_loop

TEXTS = bundled_sentences()
NAMES = ("text", "view1", "view2", "source", "target", "sentence1", "sentence2")
ROWS = [dict(zip(NAMES, TEXTS[7 * k : 7 * k + 7], strict=True)) | {"label": k % 3} for k in range(53)]
Make = Callable[..., Loop]


def maker(small: str, folder_of_runs: Path) -> Make:
    """Makes loops in folders of their own: `make(recipe, score, **settings of training)`."""

    def made(recipe: str = "sg-opt", score: Any = None, folder: str = "run", **training: Any) -> Loop:
        settings: dict[str, Any] = {"batch_size": 8, "steps": 4, "eval_steps": 1, "save_steps": 2} | training
        changes = {key if "." in key else f"training.{key}": value for key, value in settings.items()}
        if recipe == "parallel":
            changes |= {"guide.model": small, "queue.size": 16}
        elif recipe in ("sg-opt", "bt"):
            changes |= {"heads.projection.width": 16}
        stage = recipes.load(recipe, changes).stages[0]
        torch.manual_seed(0)
        encoder = isotrope.load(small)
        frozen = FrozenEncoders(encoder)
        learner = make_learner(stage, encoder, encoder, frozen)
        student = learner.student
        run = folder_of_runs / folder
        corpus = build_corpus([ROWS], stage.columns, run / "corpus")
        batches_wanted = stage.training.steps * stage.training.gradient_accumulation if stage.training.steps else None
        plan = plan_batches(
            corpus,
            batch_size=stage.training.batch_size,
            steps=batches_wanted,
            epochs=stage.training.epochs,
            seed=1,
        )
        batches = make_batches(corpus, plan, stage, student, learner.guide, run, frozen)
        monitored = batches.item([0, 1, 2, 3], torch.Generator())
        monitor = Monitor(monitored, False, lambda: finished(learner.tuned(), encoder, stage), score)
        return stage_loop(learner, batches, monitor, run, RunBar("test"))

    return made


def lines(loop: Loop) -> list[dict[str, Any]]:
    """The log. NaN and Infinity are no JSON."""

    def refuse(word: str) -> None:
        raise ValueError(word)

    text = (loop.folder / "log.jsonl").read_text()
    return [json.loads(line, parse_constant=refuse) for line in text.splitlines()]


def student(loop: Loop) -> dict[str, Tensor]:
    return {key: value.clone() for key, value in loop.model.student.state_dict().items()}


def saved_student(run: Path, step: int) -> dict[str, Tensor]:
    weights = load_file(run / f"checkpoint-{step}" / "model.safetensors")
    return {key.removeprefix("student."): value for key, value in weights.items() if key.startswith("student.")}


def same(one: dict[str, Tensor], other: dict[str, Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(value, other[key]) for key, value in one.items())


def checkpoints(loop: Loop) -> list[int]:
    return sorted(int(path.name.removeprefix("checkpoint-")) for path in loop.folder.glob("checkpoint-*"))


def falling(*scores: float) -> Callable[[Any], dict[str, float]]:
    """A development score that comes out as written, evaluation after evaluation."""
    left = iter(scores)
    return lambda encoder: {"spearman": next(left)}


def spoilt(loop: Loop, step: int, spoil: Callable[[Tensor], Tensor]) -> None:
    """The loss of one step is not what it should be."""
    forward, calls = loop.model.forward, iter(range(1, 100))

    def wrong(**batch: Any) -> dict[str, Tensor]:
        parts = forward(**batch)
        if loop.model.training and next(calls) == step:
            parts["loss"] = spoil(parts["loss"])
        return parts

    loop.model.forward = wrong  # type: ignore[method-assign]
