"""The tower: widths of both sides, whose projection the guide's side has, and how a copy of it follows."""

from __future__ import annotations

import copy
import math
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import isotrope
from isotrope.guides.momentum import Momentum, MomentumSpec
from isotrope.heads import PREDICTORS, PROJECTIONS
from isotrope.heads.tower import Heads, Tower
from isotrope.io.errors import IsotropeError

DIM, N, LAYERS = 6, 5, 3


def tower(dim: int = DIM, guide_dim: int = DIM, **heads: Any) -> Tower:
    torch.manual_seed(0)
    return Tower(dim, guide_dim, Heads(**heads), std=0.5)


def vectors(*shape: int, seed: int = 1) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


HEADS = [None, *PROJECTIONS.kinds]


@pytest.mark.parametrize("guide", ["student", "momentum", "none"])
@pytest.mark.parametrize("predictor", [None, *PREDICTORS.kinds])
@pytest.mark.parametrize("projection", HEADS)
@pytest.mark.parametrize("guide_dim", [DIM, 4])
def test_both_sides_end_equally_wide(projection: Any, predictor: Any, guide: Any, guide_dim: int) -> None:
    if projection and guide != "none" and guide_dim != DIM:
        return  # refused: see below
    sized = {"projection": {"kind": projection, "width": 7} if projection == "projection" else projection}
    made = tower(DIM, guide_dim, **sized, predictor=predictor, guide=guide)
    for h in (vectors(N, guide_dim), vectors(N, LAYERS, guide_dim)):
        assert made.student(vectors(N, DIM)).shape == (N, made.out)
        assert made.guide(h).shape == (*h.shape[:-1], made.out)


def test_without_heads_it_is_nothing_at_all() -> None:
    made, c = tower(), vectors(N, DIM)
    assert made.student(c) is c
    assert made.guide(c) is c
    assert not list(made.parameters())


def test_a_guide_of_another_width_is_met_by_a_linear_map_or_by_the_predictor() -> None:
    plain = tower(DIM, 4)
    assert isinstance(plain.predictor, nn.Linear)
    assert plain.predictor.weight.shape == (4, DIM)
    behind = tower(DIM, 4, projection={"ratio": 2}, guide="none")
    assert isinstance(behind.predictor, nn.Linear)
    assert behind.predictor.weight.shape == (4, 2 * DIM)
    predicted = tower(DIM, 4, predictor={"kind": "predictor", "ratio": 1})
    assert predicted.predictor[-1].weight.shape == (4, DIM)


@pytest.mark.parametrize("guide", ["student", "momentum"])
def test_one_projection_for_two_widths_is_refused_in_words(guide: Any) -> None:
    with pytest.raises(
        IsotropeError,
        match=rf"^the guide's vectors are 4 wide, the student's {DIM}: one projection can't serve both; "
        r'set heads\.guide = "none"$',
    ):
        tower(DIM, 4, projection="linear", guide=guide)


def test_the_predictor_is_on_the_students_side_only() -> None:
    made = tower(projection={"width": 7}, predictor="linear")
    x = vectors(N, DIM)
    assert torch.equal(made.guide(x), made.projection(x))
    assert torch.equal(made.student(x), made.predictor(made.projection(x)))


def test_the_guides_side_is_the_students_own_a_copy_or_none() -> None:
    x = vectors(N, DIM)
    own, copied, none = (tower(projection="projection", guide=guide) for guide in ("student", "momentum", "none"))
    assert own.copied is none.copied is None
    assert own.guide(x).requires_grad
    assert torch.equal(copied.guide(x), copied.projection(x))  # it begins as the student's
    assert not copied.guide(x).requires_grad
    assert none.guide(x) is x
    with torch.no_grad():
        for made in (own, copied):
            made.projection[0].weight.add_(1.0)
    assert torch.equal(own.guide(x), own.projection(x))
    assert not torch.equal(copied.guide(x), copied.projection(x))


@pytest.mark.parametrize("guide", ["student", "momentum"])
def test_layered_vectors_go_through_the_projection_one_by_one(guide: Any) -> None:
    made, h = tower(projection="projection", guide=guide), vectors(N, LAYERS, DIM)
    found = made.guide(h)
    for layer in range(LAYERS):
        assert torch.allclose(found[:, layer], made.projection(h[:, layer]), atol=1e-6)


def test_batch_norm_on_layered_vectors_is_over_all_of_them() -> None:
    """A predictor of paper 3 as a projection: its batch norm takes (n, dim) only."""
    made, h = tower(projection="predictor").train(), vectors(N, LAYERS, DIM)
    twin = copy.deepcopy(made.projection)
    assert torch.equal(made.guide(h), twin(h.reshape(N * LAYERS, DIM)).view(N, LAYERS, DIM))


@pytest.mark.parametrize("schedule", ["constant", "cosine"])
def test_the_copy_follows_as_the_guide_follows_the_student(schedule: str) -> None:
    student = isotrope.load()
    guide = MomentumSpec(momentum=0.9, schedule=schedule).build(student, lambda name, pooling: student)
    assert isinstance(guide, Momentum)
    made = tower(projection="predictor", guide="momentum").train()
    made.student(vectors(N, DIM))  # moves the running means of the batch norms
    xi = {name: value.clone() for name, value in made.copied.state_dict().items()}
    for step in range(1, 4):
        with torch.no_grad():
            for parameter in made.projection.parameters():
                parameter.add_(vectors(*parameter.shape, seed=step))
        made.after_step(guide, step / 4)
        delta = 0.9 if schedule == "constant" else 1 - 0.1 * (math.cos(math.pi * step / 4) + 1) / 2
        theta = made.projection.state_dict()
        for name, old in xi.items():
            xi[name] = delta * old + (1 - delta) * theta[name] if old.is_floating_point() else theta[name].clone()
    for name, value in made.copied.state_dict().items():
        assert torch.allclose(value, xi[name], atol=1e-6), name
    assert not torch.equal(made.copied[0].weight, made.projection[0].weight)


def test_without_a_copy_nothing_follows() -> None:
    made = tower(projection="projection")
    before = copy.deepcopy(made.state_dict())
    made.after_step(MomentumSpec().build(isotrope.load(), lambda name, pooling: isotrope.load()), 0.5)
    assert all(torch.equal(value, made.state_dict()[name]) for name, value in before.items())
