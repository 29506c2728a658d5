"""Every objective equals its naive twin to 1e-10 in float64, and has the gradient that finite differences give."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from torch import Tensor, nn

from isotrope.objectives import (
    anchor,
    bootstrap,
    info_nce,
    nli_classification,
    nli_width_factor,
    nt_xent,
    self_guided,
    symmetric_bootstrap,
)

from . import naive_objectives as naive

quick = settings(max_examples=30, deadline=None)
sizes = st.integers(1, 6)
temperatures = st.sampled_from([0.01, 0.05, 0.1, 1.0, 3.0])
equal = {"rel": 0, "abs": 1e-10}


@st.composite
def tensors(draw: st.DrawFn, *shapes: tuple[str | int, ...]) -> list[Tensor]:
    """One float64 tensor a shape; a name stands for the same size everywhere. Zeros and zero vectors are common."""
    size = {name: draw(sizes) for name in sorted({name for shape in shapes for name in shape if isinstance(name, str)})}
    concrete = [tuple(size[name] if isinstance(name, str) else name for name in shape) for shape in shapes]
    return [torch.from_numpy(draw(arrays(np.int8, shape)) / 16) for shape in concrete]


def same_with_further_negatives(
    objective: Callable[..., Tensor], twin: Callable[..., float], tau: float, *data: Tensor
) -> None:
    """Alone, with a queue (m, d), with hard negatives (n, d) and (n, k, d), and with both."""
    one, other, queue, hard = data
    a, b, m, h = (x.tolist() for x in data)
    first = [row[:1] for row in h]
    for extra, plain in (
        ({}, {}),
        ({"queue": queue}, {"queue": m}),
        ({"queue": queue[:0]}, {}),
        ({"hard_negatives": hard[:, 0]}, {"hard": first}),
        ({"hard_negatives": hard}, {"hard": h}),
        ({"queue": queue, "hard_negatives": hard[:, 0]}, {"queue": m, "hard": first}),
        ({"queue": queue, "hard_negatives": hard}, {"queue": m, "hard": h}),
    ):
        assert objective(one, other, tau, **extra).item() == pytest.approx(twin(a, b, tau, **plain), **equal), plain


@quick
@given(tensors(("n", "d"), ("n", "d"), ("m", "d"), ("n", "k", "d")), temperatures)
def test_nt_xent(data: list[Tensor], tau: float) -> None:
    same_with_further_negatives(nt_xent, naive.base, tau, *data)


@pytest.mark.parametrize(
    ("variant", "twin"), [("opt1", naive.opt1), ("opt2", naive.opt2), ("opt2-official", naive.opt2_official)]
)
@quick
@given(data=tensors(("n", "d"), ("n", "d"), ("m", "d"), ("n", "k", "d")), tau=temperatures)
def test_self_guided_of_one_view(variant: str, twin: Callable[..., float], data: list[Tensor], tau: float) -> None:
    same_with_further_negatives(partial(self_guided, variant=variant), twin, tau, *data)


@quick
@given(tensors(("n", "d"), ("n", "layers", "d"), ("m", "d"), ("n", "k", "d")), temperatures)
def test_self_guided_of_all_layers(data: list[Tensor], tau: float) -> None:
    same_with_further_negatives(partial(self_guided, variant="opt3"), naive.opt3, tau, *data)


@quick
@given(tensors(("n", "d"), ("n", "d"), ("n", "d"), ("n", "d")))
def test_bootstrap(data: list[Tensor]) -> None:
    z1, h2, z2, h1 = data
    lists = [x.tolist() for x in data]
    assert bootstrap(z1, h2).item() == pytest.approx(naive.d(*lists[:2]), **equal)
    assert symmetric_bootstrap(z1, h2, z2, h1).item() == pytest.approx(naive.bsl(*lists), **equal)


@quick
@given(tensors(("n", "d"), ("n", "d"), ("m", "d"), ("n", "k", "d")), temperatures)
def test_info_nce(data: list[Tensor], tau: float) -> None:
    same_with_further_negatives(info_nce, naive.info_nce, tau, *data)


@pytest.mark.parametrize("maximum", [False, True])
@quick
@given(data=tensors(("n", "d"), ("n", "d"), ("n",)))
def test_nli_classification(maximum: bool, data: list[Tensor]) -> None:
    u, v, numbers = data
    u, v = u / 8, v / 8  # the twin's exp has no logsumexp
    labels = (numbers * 16).long() % 3
    torch.manual_seed(0)
    classifier = nn.Linear(nli_width_factor(maximum) * u.shape[1], 3).double()
    twin = naive.cross_entropy(
        u.tolist(), v.tolist(), labels.tolist(), classifier.weight.tolist(), classifier.bias.tolist(), maximum
    )
    assert nli_classification(u, v, labels, classifier, maximum=maximum).item() == pytest.approx(twin, **equal)


def test_anchor() -> None:
    torch.manual_seed(1)
    student, frozen = (nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4)).double() for _ in range(2))
    flat = [torch.cat([p.flatten() for p in module.parameters()]).tolist() for module in (frozen, student)]
    assert anchor(student, frozen).item() == pytest.approx(naive.reg(*flat), **equal)


NEGATIVES = [(2, 4), (3, 2, 4), ()]  # a queue, hard negatives, and the temperature
SHAPES = {
    "nt_xent": (lambda a, b, m, x, t: nt_xent(a, b, t, m, x), [(3, 4), (3, 4), *NEGATIVES]),
    "opt1": (lambda c, h, m, x, t: self_guided(c, h, t, "opt1", m, x), [(3, 4), (3, 4), *NEGATIVES]),
    "opt2": (lambda c, h, m, x, t: self_guided(c, h, t, "opt2", m, x), [(3, 4), (3, 4), *NEGATIVES]),
    "opt2-official": (lambda c, h, m, x, t: self_guided(c, h, t, "opt2-official", m, x), [(3, 4), (3, 4), *NEGATIVES]),
    "opt3": (lambda c, h, m, x, t: self_guided(c, h, t, "opt3", m, x), [(3, 4), (3, 2, 4), *NEGATIVES]),
    "info_nce": (lambda q, k, m, x, t: info_nce(q, k, t, m, x), [(3, 4), (3, 4), *NEGATIVES]),
    "nli": (lambda u, v, w: nli_classification(u, v, torch.arange(3), lambda x: x @ w), [(3, 2), (3, 2), (6, 3)]),
    "nli-maximum": (
        lambda u, v, w: nli_classification(u, v, torch.arange(3), lambda x: x @ w, maximum=True),
        [(3, 2), (3, 2), (8, 3)],
    ),
}


@pytest.mark.parametrize("name", SHAPES)
def test_gradients_with_respect_to_every_vector_and_the_temperature(name: str) -> None:
    function, shapes = SHAPES[name]
    generator = torch.Generator().manual_seed(0)
    inputs = [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]
    inputs = [x if x.dim() else x.abs() + 0.1 for x in inputs]
    assert torch.autograd.gradcheck(function, [x.requires_grad_() for x in inputs])


def test_gradient_of_bootstrap_and_anchor() -> None:
    generator = torch.Generator().manual_seed(0)
    z1, h2, z2, h1 = (torch.randn(3, 4, generator=generator, dtype=torch.float64) for _ in range(4))
    z1.requires_grad_()
    z2.requires_grad_()
    assert torch.autograd.gradcheck(lambda z: bootstrap(z, h2), [z1])
    assert torch.autograd.gradcheck(lambda x, y: symmetric_bootstrap(x, h2, y, h1), [z1, z2])
    student, frozen = (nn.Linear(3, 2).double() for _ in range(2))
    assert torch.autograd.gradcheck(lambda *parameters: anchor(student, frozen), tuple(student.parameters()))
