"""Every contrastive objective without the negatives that a frozen encoder finds too near equals its naive twin."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor

from isotrope.objectives import info_nce, nt_xent, self_guided
from isotrope.objectives.negatives import left_out

from . import naive_guided as naive

N, M, LAYERS, D = 5, 4, 3, 6
CASES: dict[str, tuple[Callable[..., Tensor], Callable[..., float], int]] = {
    "info_nce": (info_nce, naive.info_nce, 1),
    "nt_xent": (nt_xent, naive.nt_xent, 1),
    "opt1": (partial(self_guided, variant="opt1"), naive.opt1, 1),
    "opt2": (partial(self_guided, variant="opt2"), naive.info_nce, 1),
    "opt2-official": (partial(self_guided, variant="opt2-official"), naive.opt2_official, 1),
    "opt3": (partial(self_guided, variant="opt3"), naive.opt3, LAYERS),
}
BOUNDS = [(0.0, None), (0.1, None), (None, 0.1), (0.0, 0.2), (-0.5, 0.4)]


def drawn(seed: int) -> Callable[..., Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return lambda *shape: torch.randn(shape, generator=generator, dtype=torch.float64)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("margin", "threshold"), BOUNDS)
@pytest.mark.parametrize("name", CASES)
def test_objectives_without_what_is_too_near(
    name: str, margin: float | None, threshold: float | None, seed: int
) -> None:
    objective, twin, layers = CASES[name]
    draw = drawn(seed)
    c, h = draw(N, D), draw(N, D) if layers == 1 else draw(N, layers, D)
    hard, queue = draw(N, layers, D), draw(M, D)
    g1, gh, gq = draw(N, 3), draw(N, 3), draw(M, 3)
    g2 = g1 + draw(N, 3) / 2
    guided = naive.Guided(*(x.tolist() for x in (g1, g2, gh, gq)), margin, threshold)
    further = [gh.repeat_interleave(layers, dim=0), gq]
    out = left_out(g1, g2, further, margin=margin, threshold=threshold, layers=layers)
    assert out.any()
    found = objective(c, h, 0.3, queue=queue, hard_negatives=hard, left_out=out)
    wanted = twin(c.tolist(), h.tolist(), 0.3, queue.tolist(), hard.tolist(), guided)
    assert found.item() == pytest.approx(wanted, rel=0, abs=1e-10)
    assert found <= objective(c, h, 0.3, queue=queue, hard_negatives=hard)


@pytest.mark.parametrize("name", CASES)
def test_where_nothing_is_left_out_nothing_changes(name: str) -> None:
    objective, _, layers = CASES[name]
    draw = drawn(0)
    c, h = draw(N, D), draw(N, D) if layers == 1 else draw(N, layers, D)
    out = left_out(draw(N, 3), draw(N, 3), threshold=1.1, layers=layers)
    assert objective(c, h, 0.3, left_out=out) == objective(c, h, 0.3)


@pytest.mark.parametrize("name", CASES)
def test_where_all_is_left_out_the_positive_remains(name: str) -> None:
    objective, _, layers = CASES[name]
    draw = drawn(0)
    c, h = draw(N, D), draw(N, D) if layers == 1 else draw(N, layers, D)
    out = left_out(draw(N, 3), draw(N, 3), threshold=-1.1, layers=layers)
    assert objective(c, h, 0.3, left_out=out).item() == pytest.approx(0)


@pytest.mark.parametrize("name", CASES)
def test_gradients(name: str) -> None:
    objective, _, layers = CASES[name]
    draw = drawn(1)
    inputs: list[Any] = [draw(3, 4), draw(3, 4) if layers == 1 else draw(3, layers, 4)]
    out = left_out(draw(3, 3), draw(3, 3), margin=0.0, layers=layers)
    assert torch.autograd.gradcheck(
        lambda c, h: objective(c, h, 0.3, left_out=out), [x.requires_grad_() for x in inputs]
    )
