"""AdamW without bias correction: the formula, and that it goes on exactly."""

from __future__ import annotations

import copy
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from isotrope.training.optimisers import OPTIMISERS, UncorrectedAdamW

LR, BETAS, EPS = 1e-2, (0.9, 0.99), 1e-6
numbers = st.floats(-2, 2)


def naive(p: float, gradients: list[float], decay: float) -> float:
    """One parameter at a time, as transformers' AdamW had it with `correct_bias=False`: decay behind the step."""
    m = v = 0.0
    for g in gradients:
        m = BETAS[0] * m + (1 - BETAS[0]) * g
        v = BETAS[1] * v + (1 - BETAS[1]) * g * g
        p = p - LR * m / (math.sqrt(v) + EPS)
        p = p - LR * decay * p
    return p


def stepped(optimiser: torch.optim.Optimizer, parameters: list[torch.Tensor], gradients: torch.Tensor) -> None:
    for row in gradients:
        for parameter in parameters:
            parameter.grad = row.clone()
        optimiser.step()


@settings(deadline=None, max_examples=50)
@given(st.lists(st.lists(numbers, min_size=3, max_size=3), min_size=1, max_size=6), st.floats(0, 1))
def test_it_is_the_formula(gradients: list[list[float]], decay: float) -> None:
    start = [1.0, -0.5, 0.0]
    matrix, vector = (torch.tensor(start, dtype=torch.float64, requires_grad=True) for _ in range(2))
    groups = [{"params": [matrix], "weight_decay": decay}, {"params": [vector]}]
    optimiser = UncorrectedAdamW(groups, lr=LR, betas=BETAS, eps=EPS)
    stepped(optimiser, [matrix, vector], torch.tensor(gradients, dtype=torch.float64))
    for found, share in ((matrix, decay), (vector, 0.0)):
        wanted = [naive(p, [row[i] for row in gradients], share) for i, p in enumerate(start)]
        assert found.tolist() == pytest.approx(wanted, rel=1e-12, abs=1e-14)


def test_the_first_step_is_longer_than_a_corrected_one() -> None:
    """By (1 - beta1) / sqrt(1 - beta2): with 0.9 and 0.999 by 3.16."""
    moved = {}
    for name in ("adamw", "adamw-uncorrected"):
        parameter = torch.zeros(1, requires_grad=True)
        stepped(OPTIMISERS[name]([parameter], lr=LR, betas=(0.9, 0.999), eps=1e-12), [parameter], torch.ones(1, 1))
        moved[name] = -float(parameter.detach())
    assert moved["adamw"] == pytest.approx(LR)
    assert moved["adamw-uncorrected"] == pytest.approx(LR * 0.1 / math.sqrt(0.001))


def test_what_has_no_gradient_stays_and_a_closure_is_called() -> None:
    used, unused = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    optimiser = UncorrectedAdamW([{"params": [used, unused], "weight_decay": 0.5}], lr=LR, betas=BETAS, eps=EPS)

    def closure() -> torch.Tensor:
        loss = used.square().sum()
        loss.backward()
        return loss

    assert optimiser.step(closure).item() == 2.0
    assert torch.equal(unused, torch.ones(2))
    assert bool((used < 1).all())


def test_saved_and_loaded_it_goes_on_exactly() -> None:
    torch.manual_seed(0)
    gradients = torch.randn(8, 5)
    whole, broken = (torch.ones(5, requires_grad=True) for _ in range(2))
    stepped(UncorrectedAdamW([whole], lr=LR, betas=BETAS, eps=EPS), [whole], gradients)
    first = UncorrectedAdamW([broken], lr=LR, betas=BETAS, eps=EPS)
    stepped(first, [broken], gradients[:3])
    second = UncorrectedAdamW([broken], lr=1.0, betas=(0.0, 0.0), eps=1.0)
    second.load_state_dict(copy.deepcopy(first.state_dict()))
    stepped(second, [broken], gradients[3:])
    assert torch.equal(broken, whole)
