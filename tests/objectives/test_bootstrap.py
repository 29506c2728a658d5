from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn.functional import mse_loss, normalize

from isotrope.objectives import bootstrap, symmetric_bootstrap

quick = settings(max_examples=30, deadline=None)
close = {"rtol": 0, "atol": 1e-10}


def randn(seed: int, *shape: int, count: int) -> list[Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for _ in range(count)]


def test_known_values() -> None:
    x, y = torch.tensor([[2.0, 0.0]]), torch.tensor([[0.0, 3.0]])
    assert bootstrap(x, 5 * x).item() == -1
    assert bootstrap(x, -x).item() == 1
    assert bootstrap(x, y).item() == 0
    assert symmetric_bootstrap(x, x, x, -x).item() == 0


def test_the_target_gets_no_gradient() -> None:
    z, h = (x.requires_grad_() for x in randn(0, 4, 3, count=2))
    bootstrap(z, h).backward()
    assert h.grad is None
    assert z.grad.abs().sum() > 0
    z1, h2, z2, h1 = (x.requires_grad_() for x in randn(0, 4, 3, count=4))
    symmetric_bootstrap(z1, h2, z2, h1).backward()
    assert h1.grad is None
    assert h2.grad is None
    assert z1.grad.abs().sum() > 0
    assert z2.grad.abs().sum() > 0


@quick
@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 5))
def test_order_and_lengths_do_not_matter_and_views_may_be_swapped(seed: int, n: int, d: int) -> None:
    z1, h2, z2, h1 = randn(seed, n, d, count=4)
    loss = symmetric_bootstrap(z1, h2, z2, h1)
    order = torch.randperm(n)
    torch.testing.assert_close(symmetric_bootstrap(z2, h1, z1, h2), loss, **close)
    torch.testing.assert_close(symmetric_bootstrap(z1[order], h2[order], z2 * 9, h1 / 9), loss, **close)


def test_the_published_scale_is_four_times_this_plus_four() -> None:
    """It has the squared distance of unit vectors, 2 - 2cos, both ways."""
    z1, h2, z2, h1 = randn(0, 5, 3, count=4)

    def squared(z: Tensor, h: Tensor) -> Tensor:
        return mse_loss(normalize(z), normalize(h), reduction="sum") / len(z)

    published = squared(z1, h2) + squared(z2, h1)
    torch.testing.assert_close(4 + 4 * symmetric_bootstrap(z1, h2, z2, h1), published, **close)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_and_zero_vectors(dtype: torch.dtype) -> None:
    z, h = (x.to(dtype) for x in randn(0, 16, 64, count=2))
    z[0], h[1] = 0, 0
    z.requires_grad_()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = bootstrap(z, h)
    loss.backward()
    assert loss.dtype == torch.float32
    assert loss.item() == pytest.approx(bootstrap(z.double(), h.double()).item(), abs=1e-6)
    assert z.grad.isfinite().all()
