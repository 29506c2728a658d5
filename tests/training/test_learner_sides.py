"""What the learner compares: both sides behind their heads, keys in the queue, hard negatives on the guide's side."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

import isotrope
from isotrope import recipes
from isotrope.objectives import info_nce, nt_xent, self_guided
from isotrope.recipes.schema import Stage
from isotrope.training.assemble import make_learner
from isotrope.training.batches import laid_out
from isotrope.training.learner import Learner, set_dropout

TEXTS = ["A short one.", "Something a little longer about dogs in the rain.", "No.", "What is that over there?"]
OTHER = ["Brief.", "Wet dogs, at some length.", "Not at all.", "Which thing do you mean?"]
THIRD = ["Long.", "Cats sleep.", "Yes, of course, why not?", "Here it is."]
TAU = 0.2


def learner_of(small: str, **settings: Any) -> Learner:
    """A learner of two columns and a third of hard negatives, without dropout: two passes are alike."""
    torch.manual_seed(0)
    stage: dict[str, Any] = {
        "views": {"first": {"column": "a"}, "second": {"column": "b"}},
        "objective": {"kind": "info-nce", "temperature": TAU},
        "training": {"dropout": 0},
        "pooling": {"training": "mean", "evaluation": "mean"},
    }
    for key, value in settings.items():
        stage[key] = stage.get(key, {}) | value if isinstance(value, dict) else value
    encoder = isotrope.load(small)
    learner = make_learner(Stage.model_validate(stage), encoder, encoder).train()
    set_dropout(learner.guide, 0)  # of a second tower: `training.dropout` is the student's
    with torch.no_grad():  # a guide that is not the student any more
        for parameter in learner.student.parameters():
            parameter.add_(torch.randn_like(parameter), alpha=0.01)
    return learner


def item(learner: Learner) -> dict[str, Any]:
    texts = {"a": TEXTS, "b": OTHER, "c": THIRD}
    reader = learner.guide.reader or learner.student
    return laid_out(learner.stage, learner.student, reader, lambda encoder, _, column: encoder.tokenize(texts[column]))


def sides(learner: Learner, *texts: list[str]) -> tuple[list[Tensor], list[Tensor]]:
    """Of each text, what is compared on the student's side and on the guide's."""
    student, reader = learner.student, learner.guide.reader or learner.student
    c = [learner.tower.student(student(student.batch(one))) for one in texts]
    h = [learner.tower.guide(learner.guide(reader.batch(one), student)) for one in texts]
    return c, h


GUIDES: dict[str, dict[str, Any]] = {
    "self": {},
    "momentum": {"guide": "momentum", "heads": {"projection": "linear", "guide": "momentum"}},
    "teacher": {"guide": {"kind": "teacher", "model": "bundled"}, "heads": {"projection": "linear", "guide": "none"}},
    "dual": {"guide": {"kind": "dual", "model": "bundled"}},
    "layers": {"guide": {"kind": "frozen-layers", "sampler": "last-k", "k": 1}, "heads": {"projection": "linear"}},
}


@pytest.mark.parametrize("name", GUIDES)
def test_the_queue_holds_the_guides_keys_behind_the_projection(small: str, name: str) -> None:
    learner = learner_of(small, queue={"size": 6}, **GUIDES[name])
    assert learner.queue is not None
    batch = item(learner)
    with torch.no_grad():
        (c, _), (_, keys) = sides(learner, TEXTS, OTHER)
    first = learner(**batch)["loss"]
    assert torch.allclose(first, info_nce(c, keys, TAU), atol=1e-5)
    assert len(learner.queue()) == 0  # nothing comes in before the step
    first.backward()
    queued = learner.queue.vectors.clone()
    assert not queued.any()
    learner.queue.after_step()
    assert torch.allclose(learner.queue(), keys, atol=1e-5)
    assert torch.allclose(learner(**batch)["loss"], info_nce(c, keys, TAU, queue=keys), atol=1e-5)


def test_every_layer_is_a_key(small: str) -> None:
    learner = learner_of(
        small,
        guide="frozen-layers",
        objective={"kind": "self-guided", "temperature": TAU},
        heads={"projection": "predictor"},
        queue={"size": 50},
    ).eval()
    assert learner.queue is not None
    with torch.no_grad():
        (c, _), (_, keys) = sides(learner, TEXTS, OTHER)
        assert keys.shape == (4, learner.student.backbone.layers + 1, learner.tower.out)
        learner.queue.remember(keys)
        learner.queue.after_step()
        assert torch.equal(learner.queue(), keys.flatten(0, 1))
        wanted = self_guided(c, keys, TAU, "opt3", queue=keys.flatten(0, 1))
        assert torch.allclose(learner(**item(learner))["loss"], wanted, atol=1e-4)


@pytest.mark.parametrize("name", GUIDES)
def test_hard_negatives_are_read_and_encoded_by_the_guide(small: str, name: str) -> None:
    learner = learner_of(
        small, views={"first": {"column": "a"}, "second": {"column": "b"}, "negative": "c"}, **GUIDES[name]
    )
    with torch.no_grad():
        (c, *_), (_, keys, hard) = sides(learner, TEXTS, OTHER, THIRD)
    found = learner(**item(learner))["loss"]
    assert torch.allclose(found, info_nce(c, keys, TAU, hard_negatives=hard), atol=1e-5)
    assert not torch.allclose(found, info_nce(c, keys, TAU), atol=1e-3)


def test_hard_negatives_of_every_layer(small: str) -> None:
    views = {"first": {"column": "a"}, "second": {"column": "b"}, "negative": "c"}
    objective = {"kind": "self-guided", "temperature": TAU}
    learner = learner_of(small, guide="frozen-layers", objective=objective, views=views)
    with torch.no_grad():
        (c, *_), (_, keys, hard) = sides(learner, TEXTS, OTHER, THIRD)
        assert hard.dim() == 3
        wanted = self_guided(c, keys, TAU, "opt3", hard_negatives=hard)
        assert torch.allclose(learner(**item(learner))["loss"], wanted, atol=1e-4)


@pytest.mark.parametrize("name", ["self", "momentum", "layers"])
def test_symmetric_is_the_mean_of_both_ways_round(small: str, name: str) -> None:
    views = {"first": {"column": "a"}, "second": {"column": "b"}, "symmetric": True}
    learner = learner_of(small, views=views, **GUIDES[name])
    with torch.no_grad():
        c, h = sides(learner, TEXTS, OTHER)
        wanted = (info_nce(c[0], h[1], TAU) + info_nce(c[1], h[0], TAU)) / 2
    assert torch.allclose(learner(**item(learner))["loss"], wanted, atol=1e-5)


@pytest.mark.parametrize("negative", [None, "c"])
@pytest.mark.parametrize("symmetric", [False, True])
def test_a_student_that_guides_itself_is_asked_once(small: str, symmetric: bool, negative: str | None) -> None:
    """Both views, both ways round, and the hard negatives: one pass, and each view in it once."""
    views = {
        "first": {"kind": "shuffle", "column": "a"},
        "second": {"kind": "feature-cutoff", "column": "b"},
        "symmetric": symmetric,
        "negative": negative,
    }
    learner = learner_of(small, views=views)
    sentences: list[int] = []
    learner.student.register_forward_hook(lambda module, given, made: sentences.append(len(made)))
    learner(**item(learner))["loss"].backward()
    assert sentences == [12 if negative else 8]


def test_two_views_of_one_text_draw_their_own_dropout(small: str) -> None:
    """SimCSE: the same batch stands twice in one pass, and each has a mask of its own."""
    encoder = isotrope.load(small)
    learner = make_learner(recipes.load("simcse").stages[0], encoder, encoder).train()
    vectors: list[Tensor] = []
    learner.student.register_forward_hook(lambda module, given, made: vectors.append(made))
    batch = learner.student.batch(TEXTS)
    learner(first=batch, second=batch)
    once, again = vectors[0].chunk(2)
    assert (once - again).abs().amax(1).min() > 1e-4


def test_a_momentum_guide_and_its_projection_follow_after_the_step(small: str) -> None:
    guide = {"kind": "momentum", "momentum": 0.75}
    learner = learner_of(small, guide=guide, heads={"projection": "linear", "guide": "momentum", "predictor": "linear"})
    copied = learner.tower.copied
    assert copied is not None
    before = copied.weight.clone()
    learner(**item(learner))["loss"].backward()
    assert copied.weight.grad is None
    assert learner.tower.projection.weight.grad is not None
    with torch.no_grad():
        learner.tower.projection.weight.add_(1.0)
    learner.after_step(0.5)
    assert torch.allclose(copied.weight, before + 0.25, atol=1e-6)
    assert "tower.copied.weight" in learner.state_dict()


def test_nt_xent_takes_a_queue_and_hard_negatives_too(small: str) -> None:
    """The example of the README: a symmetric objective, a momentum guide, and keys of earlier batches."""
    views = {"first": {"column": "a"}, "second": {"column": "b"}, "negative": "c"}
    learner = learner_of(small, objective={"kind": "nt-xent"}, guide="momentum", views=views, queue={"size": 4})
    assert learner.queue is not None
    with torch.no_grad():
        (c, *_), (_, keys, hard) = sides(learner, TEXTS, OTHER, THIRD)
    learner(**item(learner))
    learner.queue.after_step()
    found = learner(**item(learner))["loss"]
    assert torch.allclose(found, nt_xent(c, keys, TAU, queue=keys, hard_negatives=hard), atol=1e-5)
