"""What a recipe says in both variants, and the learner and the loop that come of it; for the tests beside."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch

import isotrope
from isotrope import recipes
from isotrope.text import bundled_sentences
from isotrope.text.corpus import build_corpus
from isotrope.text.plan import plan_batches
from isotrope.training.assemble import finished, make_batches, make_learner
from isotrope.training.bar import RunBar
from isotrope.training.frozen import FrozenEncoders
from isotrope.training.learner import Learner
from isotrope.training.loop import Loop
from isotrope.training.monitor import Monitor, Score
from isotrope.training.stage_loop import stage_loop

Row = tuple[str, list[str], str, Any, Any]  # of the table, recipe/stage, path, the text's value, the code's
Case = tuple[str, str, str, Any, Any]

VARIANTS = ("paper", "official")
STAGES = {name: len(recipes.load(name).stages) for name in recipes.names()}
BUNDLED = bundled_sentences()
TEXTS, OTHERS = BUNDLED[:6], BUNDLED[10:16]
NAMES = ("text", "view1", "view2", "source", "target", "sentence1", "sentence2")
DATA = [dict(zip(NAMES, BUNDLED[7 * k : 7 * k + 7], strict=True)) | {"label": k % 3} for k in range(40)]


def everywhere(*names: str) -> list[str]:
    """`recipe/stage` of all stages."""
    return [f"{name}/{k}" for name in names for k in range(STAGES[name])]


def cases(rows: Iterable[Row]) -> list[Case]:
    """One for each place."""
    return [(row, place, path, paper, code) for row, places, path, paper, code in rows for place in places]


def value(place: str, path: str, variant: str) -> Any:
    """What a variant of `recipe/stage` has at a path."""
    name, _, stage = place.partition("/")
    section: Any = recipes.load(f"{name}:{variant}").stages[int(stage)]
    for key in path.split("."):
        section = getattr(section, key)
    return section


def slug(row: str) -> str:
    """What the name of a row's test begins with."""
    return "test_" + "_".join(re.findall(r"[a-z0-9]+", row.lower()))


def flat(table: dict[str, Any], above: str = "") -> dict[str, Any]:
    """Nested tables by dotted path."""
    leaves: dict[str, Any] = {}
    for key, one in table.items():
        leaves |= flat(one, f"{above}{key}.") if isinstance(one, dict) else {f"{above}{key}": one}
    return leaves


def learner_of(recipe: str, model: str = "bundled", **changes: Any) -> Learner:
    """The learner of a recipe's first stage."""
    torch.manual_seed(0)
    stage = recipes.load(recipe, changes).stages[0]
    encoder = isotrope.load(model)
    return make_learner(stage, encoder, encoder)


def moved(learner: Learner, by: float = 0.01) -> Learner:
    """The student away from where it began."""
    torch.manual_seed(1)
    with torch.no_grad():
        for parameter in learner.student.parameters():
            parameter.add_(torch.randn_like(parameter), alpha=by)
    return learner


def loop_of(recipe: str, model: str, folder: Path, score: Score | None = None, **changes: Any) -> Loop:
    """A small run of a recipe's first stage: `DATA`, batches of 4, measured at every step."""
    often = {"training.batch_size": 4, "training.eval_steps": 1, "training.save_steps": 1}
    if recipes.load(recipe).stages[0].heads.projection:
        often["heads.projection.width"] = 16  # 4,096 would be most of so small a run
    learner = learner_of(recipe, model, **often | changes)
    stage, student = learner.stage, learner.student
    corpus = build_corpus([DATA], stage.columns, folder / "corpus")
    training = stage.training
    plan = plan_batches(
        corpus,
        batch_size=training.batch_size,
        steps=training.steps,
        epochs=training.epochs,
        seed=1,
        drop_last=training.drop_last,
    )
    batches = make_batches(corpus, plan, stage, student, learner.guide, folder, FrozenEncoders(student))
    measured = batches.item([0, 1, 2, 3], torch.Generator())
    monitor = Monitor(measured, False, lambda: finished(student, isotrope.load(model), stage), score)
    return stage_loop(learner, batches, monitor, folder, RunBar("test"))
