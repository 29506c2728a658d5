"""Objectives as a recipe names them: each is its function, with what it keeps beside the student."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

import isotrope
from isotrope.objectives import OBJECTIVES, bootstrap, info_nce, nt_xent, self_guided

N, DIM, TAU = 4, 3, 0.2
CONTRASTIVE = [kind for kind in OBJECTIVES.kinds if "temperature" in OBJECTIVES.specs[kind].model_fields]


@pytest.fixture(scope="module")
def student() -> isotrope.Encoder:
    return isotrope.load()


def randn(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


C, H, LAYERS, QUEUE, HARD = (
    randn(*shape, seed=k) for k, shape in enumerate([(N, DIM), (N, DIM), (N, 2, DIM), (5, DIM), (N, DIM)])
)
WANTED: dict[str, Any] = {
    "nt-xent": lambda tau: nt_xent(C, H, tau, QUEUE, HARD),
    "info-nce": lambda tau: info_nce(C, H, tau, QUEUE, HARD),
    "self-guided": lambda tau: self_guided(C, LAYERS, tau, "opt3", QUEUE, HARD),
}


def test_those_with_a_temperature_are_the_contrastive_ones() -> None:
    assert sorted(CONTRASTIVE) == sorted(WANTED)


@pytest.mark.parametrize("learnable", [False, True])
@pytest.mark.parametrize("kind", CONTRASTIVE)
def test_a_contrastive_objective_is_its_function(kind: str, learnable: bool, student: isotrope.Encoder) -> None:
    objective = OBJECTIVES.make(kind, temperature=TAU, learnable_temperature=learnable)
    assert objective.takes_negatives
    state: Any = objective.state(student)
    h = LAYERS if objective.layered else H
    assert torch.allclose(objective(C, h, state, queue=QUEUE, hard=HARD), WANTED[kind](TAU), atol=1e-6)
    assert [parameter.requires_grad for parameter in state.parameters()] == [learnable]
    assert objective.figures(state) == ({"temperature": pytest.approx(TAU)} if learnable else {})
    with torch.no_grad():
        state.log.fill_(-20)
    objective.after_step(state)
    assert float(state.log.detach()) == (pytest.approx(torch.tensor(0.01).log().item()) if learnable else -20)


@pytest.mark.parametrize("variant", ["opt1", "opt2", "opt2-official", "opt3"])
def test_only_opt3_compares_with_every_layer(variant: str, student: isotrope.Encoder) -> None:
    objective = OBJECTIVES.make("self-guided", variant=variant, temperature=TAU)
    assert objective.layered == (variant == "opt3")
    h = LAYERS if objective.layered else H
    found = objective(C, h, objective.state(student), queue=None, hard=None)
    assert torch.allclose(found, self_guided(C, h, TAU, variant), atol=1e-12)


def test_bootstrap_has_no_negatives_and_keeps_nothing(student: isotrope.Encoder) -> None:
    objective = OBJECTIVES.make("bootstrap")
    assert not objective.takes_negatives
    state = objective.state(student)
    assert not list(state.parameters())
    assert torch.equal(objective(C, H, state, queue=None, hard=None), bootstrap(C, H))


@pytest.mark.parametrize("kind", OBJECTIVES.kinds)
def test_what_an_objective_reads(kind: str) -> None:
    reads = {"none": (), "mlm": ("first",)}.get(kind, ("first", "second"))
    assert OBJECTIVES.make(kind).reads == reads
    assert OBJECTIVES.make(kind, anchor=0.5).anchor == 0.5
