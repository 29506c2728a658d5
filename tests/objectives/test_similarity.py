from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from isotrope.objectives import cosine

quick = settings(max_examples=30, deadline=None)


@quick
@given(st.integers(1, 5), st.integers(1, 5), st.integers(1, 5), st.integers(-200, 200))
def test_cosine_is_torchs_and_blind_to_length(n: int, m: int, d: int, exponent: int) -> None:
    a, b = torch.randn(n, d, dtype=torch.float64), torch.randn(m, d, dtype=torch.float64)
    wanted = torch.cosine_similarity(a[:, None], b[None], dim=-1)
    torch.testing.assert_close(cosine(a, b), wanted, rtol=0, atol=1e-12)
    torch.testing.assert_close(cosine(a * 2.0**exponent, b * 2.0**-exponent), wanted, rtol=0, atol=1e-12)


def test_a_zero_vector_is_orthogonal_to_all_and_its_gradient_stays_small() -> None:
    a, b = torch.zeros(2, 3, requires_grad=True), torch.eye(3).requires_grad_()
    result = cosine(a, b)
    assert result.eq(0).all()
    result.sum().backward()
    for gradient in (a.grad, b.grad):
        assert gradient.isfinite().all()
        assert gradient.abs().max() <= 1  # with an epsilon in the denominator it would be 1 / epsilon
    assert cosine(torch.zeros(2, 3), torch.zeros(4, 3)).eq(0).all()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_computed_in_single(dtype: torch.dtype) -> None:
    generator = torch.Generator().manual_seed(0)
    a, b = (200 * torch.randn(5, 64, generator=generator).to(dtype) for _ in range(2))  # squares overflow float16
    result = cosine(a, b)
    assert result.dtype == torch.float32
    assert result.equal(cosine(a.float(), b.float()))


def test_autocast_does_not_round_the_products() -> None:
    generator = torch.Generator().manual_seed(0)
    a, b = (torch.randn(5, 64, generator=generator) for _ in range(2))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert (a @ b.T).dtype == torch.bfloat16
        result = cosine(a, b)
    torch.testing.assert_close(result.double(), cosine(a.double(), b.double()), rtol=0, atol=1e-6)


def test_double_precision_is_kept() -> None:
    assert cosine(torch.eye(2, dtype=torch.float64), torch.eye(2, dtype=torch.float64)).dtype == torch.float64
