"""A recipe as living parts, and the step on made-up sentences that finds out what can't work."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import isotrope
from isotrope import recipes
from isotrope.encoders import Encoder
from isotrope.io.errors import IsotropeError
from isotrope.training.assemble import finished, make_learner, probe, trained_student, with_teacher
from isotrope.training.run import train

EVERY = {
    name: [stage.guide.own_tokenizer or bool(stage.distillation.models) for stage in recipes.load(name).stages]
    for name in recipes.names()
}


def recipe_of(name: str, teacher: str = "bundled", **settings: Any) -> recipes.Recipe:
    """With that encoder as the teacher where there is one."""
    chosen = recipes.load(name, settings)
    return recipes.load(name, settings | (with_teacher(chosen, teacher) if any(EVERY[name]) else {}))


def state(encoder: Encoder) -> dict[str, Any]:
    """All that a step could have changed."""
    return {
        "weights": copy.deepcopy(encoder.state_dict()),
        "modes": [module.training for module in encoder.modules()],
        "rates": [module.p for module in encoder.modules() if isinstance(module, nn.Dropout)],
        "learns": [parameter.requires_grad for parameter in encoder.parameters()],
        "gradients": [parameter.grad for parameter in encoder.parameters()],
        "hooks": [len(module._forward_hooks) for module in encoder.modules()],
        "checkpointing": encoder.backbone.model.is_gradient_checkpointing,
        "pooling": encoder.pooling,
        "tail": list(encoder.after_pooling),
        "truncated": encoder.truncated,
        "longest": encoder.max_seq_length,
    }


def same(one: Any, other: Any) -> bool:
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return torch.equal(one, other) if isinstance(one, Tensor) else bool(one == other)


@pytest.mark.parametrize("name", EVERY)
def test_every_recipe_can_work(name: str, small: str) -> None:
    start = {"stages.0.start": "previous"} if name == "parallel-pipeline" else {}  # which names a model of the Hub
    probe(recipe_of(name, small, **start), isotrope.load(small))


@pytest.mark.parametrize("mode", [True, False])
@pytest.mark.parametrize("name", ["sg-opt", "consert", "bsl", "simcse", "consert-joint-unsup", "mlm"])
def test_the_encoder_stays_as_it_is(name: str, mode: bool, small: str) -> None:
    encoder = isotrope.load(small).train(mode)
    next(encoder.parameters()).requires_grad_(False)
    before = state(encoder)
    settings = {"training.dropout": 0.5, "training.freeze_embeddings": True, "training.gradient_checkpointing": True}
    probe(recipe_of(name, **settings), encoder)
    after = state(encoder)
    assert [key for key in before if not same(before[key], after[key])] == []


@pytest.mark.parametrize("name", ["sg-opt", "consert", "bsl", "parallel"])
def test_the_random_states_stay_as_they_are(name: str, small: str) -> None:
    encoder = isotrope.load(small)
    recipe = recipe_of(name)
    torch.manual_seed(3)
    random.seed(3)
    np.random.seed(3)  # noqa: NPY002
    probe(recipe, encoder)
    drawn = torch.rand(3), random.random(), np.random.random()  # noqa: NPY002
    torch.manual_seed(3)
    random.seed(3)
    np.random.seed(3)  # noqa: NPY002
    assert same(drawn[0], torch.rand(3))
    assert drawn[1:] == (random.random(), np.random.random())  # noqa: NPY002


# -- what can't work ---------------------------------------------------------------------------------------------------


class Unread:
    """A source of text that nobody may open."""

    def __iter__(self) -> Iterator[str]:
        raise AssertionError("text was read before the recipe was tried")


def nan(c: Tensor, h: Tensor) -> Tensor:
    return (c - h).sum() * torch.nan


def crooked(c: Tensor, h: Tensor) -> Tensor:
    return (c @ h).sum()


def detached(c: Tensor, h: Tensor) -> Tensor:
    return c.detach().sum()


BROKEN: list[tuple[dict[str, Any], str]] = [
    ({"objective": nan}, "recipe simcse: the loss of the first step is nan"),
    ({"objective": crooked}, "recipe simcse: the first step fails: mat1 and mat2 shapes cannot be multiplied"),
    ({"objective": detached}, "recipe simcse: the first step fails: element 0 of tensors does not require grad"),
    (
        {"guide": "frozen-layers", "guide.layers": [0, 99], "objective": "self-guided"},
        r"guide.layers \[0, 99\]: this encoder's layers are 0 to 1",
    ),
    (
        {"guide": {"kind": "frozen-layers", "sampler": "last-k", "k": 9}},
        "guide.k 9: this encoder's guide has 2 layers",
    ),
    ({"guide": "teacher"}, r"this recipe's guide is another encoder: name it with teacher="),
]


@pytest.mark.parametrize(("settings", "message"), BROKEN)
def test_what_can_not_work_fails_before_any_text_is_read(
    settings: dict[str, Any], message: str, small: str, tmp_path: Path
) -> None:
    with pytest.raises(IsotropeError, match=message) as told:
        train(Unread(), "simcse", small, tmp_path / "run", steps=2, set=settings)
    assert "\n" not in str(told.value)
    assert not (tmp_path / "run").exists()


def test_a_later_stage_that_can_not_work_is_found_at_once(small: str, tmp_path: Path) -> None:
    settings = {"stages.1.objective": crooked}
    with pytest.raises(IsotropeError, match="the first step fails"):
        train(Unread(), "consert-joint-unsup", small, tmp_path / "run", steps=2, set=settings)


# -- student, guide, result --------------------------------------------------------------------------------------------


def test_the_teacher_is_for_stages_whose_guide_is_another_encoder() -> None:
    pipeline = recipes.load("parallel-pipeline")
    assert with_teacher(pipeline, "x") == {"stages.0.guide.model": "x"}  # the last is taught by what was made before
    assert with_teacher(recipes.load("parallel-dual"), "x") == {"stages.0.guide.model": "x"}
    settings = {"teachers": ["x"], "alpha": "default", "teacher_pooling": "default"}
    wanted = {f"stages.0.distillation.{key}": value for key, value in settings.items()}
    assert with_teacher(recipes.load("rankcse"), "x") == with_teacher(recipes.load("distil"), "x") == wanted
    assert recipes.load("rankcse", wanted).stages[0].distillation.teachers == ("x",)
    with pytest.raises(
        IsotropeError, match="recipe sg-opt has no guide that is another encoder; leave out the teacher"
    ):
        with_teacher(recipes.load("sg-opt"), "x")


def test_a_learner_shares_the_weights_that_it_tunes(small: str) -> None:
    encoder = isotrope.load(small)
    stage = recipes.load("consert").stages[0]
    learner = make_learner(stage, encoder, encoder)
    assert learner.student.backbone is encoder.backbone
    result = finished(learner.student, encoder, stage)
    assert str(trained_student(encoder, stage).pooling) == "mean"
    assert str(result.pooling) == "last2"
    assert result.backbone is encoder.backbone
