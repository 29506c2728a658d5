from __future__ import annotations

from math import exp, log

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss
from torch import Tensor, nn

from isotrope.objectives import info_nce, nt_xent

quick = settings(max_examples=30, deadline=None)
close = {"rtol": 0, "atol": 1e-10}
seeds = st.integers(0, 10**6)


def randn(seed: int, *shape: int, count: int = 2, dtype: torch.dtype = torch.float64) -> list[Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype) for _ in range(count)]


@quick
@given(seeds, st.integers(1, 7), st.integers(1, 5))
def test_nt_xent_has_no_sides_no_order_and_no_lengths(seed: int, n: int, d: int) -> None:
    a, b = randn(seed, n, d)
    loss = nt_xent(a, b, 0.1)
    order = torch.randperm(n)
    lengths = torch.rand(n, 1, dtype=torch.float64) * 100 + 0.01
    torch.testing.assert_close(nt_xent(b, a, 0.1), loss, **close)
    torch.testing.assert_close(nt_xent(a[order], b[order], 0.1), loss, **close)
    torch.testing.assert_close(nt_xent(a * lengths, b / lengths, 0.1), loss, **close)


@quick
@given(seeds, st.integers(1, 7), st.integers(1, 5), st.integers(0, 4))
def test_info_nce_has_no_order_and_no_lengths(seed: int, n: int, d: int, m: int) -> None:
    query, keys, hard = randn(seed, n, d, count=3)
    (queue,) = randn(seed + 1, m, d, count=1)
    loss = info_nce(query, keys, 0.1, queue, hard)
    order = torch.randperm(n)
    lengths = torch.rand(n, 1, dtype=torch.float64) * 100 + 0.01
    # the hard negatives keep their own order: every query sees those of all
    torch.testing.assert_close(info_nce(query[order], keys[order], 0.1, queue.flip(0), hard), loss, **close)
    torch.testing.assert_close(info_nce(query * lengths, keys / lengths, 0.1, queue * 7, hard * lengths), loss, **close)


@pytest.mark.parametrize("temperature", [0.001, 0.05, 1.0])
def test_known_values(temperature: float) -> None:
    n = 4
    same, basis = torch.ones(n, 8).double(), torch.eye(8).double()
    assert nt_xent(same, same, temperature).item() == pytest.approx(log(2 * n - 1))
    assert info_nce(same, same, temperature).item() == pytest.approx(log(n))
    apart = exp(-1 / temperature)
    assert nt_xent(basis[:n], basis[:n], temperature).item() == pytest.approx(log(1 + (2 * n - 2) * apart), abs=1e-12)
    assert info_nce(basis[:n], basis[:n], temperature).item() == pytest.approx(log(1 + (n - 1) * apart), abs=1e-12)
    # the positive opposite, the one negative the same: exp(1 / 0.001) has no float, the loss 2 / temperature has
    query = torch.tensor([[1.0, 0.0], [-1.0, 0.0]])
    assert info_nce(query, -query, temperature).item() == pytest.approx(
        2 / temperature + log(1 + exp(-2 / temperature))
    )


def test_one_sentence_alone_has_nothing_to_be_told_from() -> None:
    a, b = (x.requires_grad_() for x in randn(0, 1, 3))
    for loss in (nt_xent(a, b, 0.1), info_nce(a, b, 0.1)):
        assert loss.item() == 0
        loss.backward()
    assert a.grad.eq(0).all()
    assert b.grad.eq(0).all()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
@pytest.mark.parametrize("temperature", [0.001, 0.1])
@pytest.mark.parametrize("autocast", [False, True])
def test_low_precision_gives_the_loss_of_its_numbers(dtype: torch.dtype, temperature: float, autocast: bool) -> None:
    a, b, hard = (x.requires_grad_() for x in randn(0, 16, 64, count=3, dtype=dtype))
    (queue,) = randn(1, 32, 64, count=1, dtype=dtype)
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=autocast):
        losses = [nt_xent(a, b, temperature), info_nce(a, b, temperature, queue, hard)]
    exact = [
        nt_xent(a.double(), b.double(), temperature),
        info_nce(a.double(), b.double(), temperature, queue.double(), hard.double()),
    ]
    for loss, wanted in zip(losses, exact, strict=True):
        assert loss.dtype == torch.float32
        assert loss.item() == pytest.approx(wanted.item(), rel=1e-5)
        loss.backward()
    assert all(x.grad.isfinite().all() for x in (a, b, hard))


def test_zero_vectors_give_numbers() -> None:
    a, b = (x.requires_grad_() for x in randn(0, 4, 3))
    with torch.no_grad():
        a[0] = b[0] = b[1] = 0
    (nt_xent(a, b, 0.001) + info_nce(a, b, 0.001, queue=torch.zeros(2, 3).double())).backward()
    assert a.grad.isfinite().all()
    assert b.grad.isfinite().all()


def test_a_learnable_temperature_learns() -> None:
    a, b = randn(0, 4, 3)
    temperature = torch.tensor(0.07, requires_grad=True)
    for objective in (nt_xent, info_nce):
        loss = objective(a, b, temperature)
        torch.testing.assert_close(loss, objective(a, b, temperature.item()))
        (slope,) = torch.autograd.grad(loss, temperature)
        step = 1e-6
        t = temperature.item()
        difference = (objective(a, b, t + step) - objective(a, b, t - step)) / (2 * step)
        assert slope.item() == pytest.approx(difference.item(), rel=1e-4)


def test_an_empty_queue_is_no_queue_and_a_queue_only_adds() -> None:
    query, keys, queue = randn(0, 4, 3, count=3)
    assert info_nce(query, keys, 0.1, queue=queue[:0]).equal(info_nce(query, keys, 0.1))
    assert info_nce(query, keys, 0.1, queue=queue) > info_nce(query, keys, 0.1, queue=queue[:3])


def test_the_queue_is_not_copied() -> None:
    query, keys = (x.requires_grad_() for x in randn(0, 2, 3))
    (queue,) = randn(1, 500, 3, count=1)
    kept: list[Tensor] = []
    with torch.autograd.graph.saved_tensors_hooks(lambda x: kept.append(x) or x, lambda x: x):
        info_nce(query, keys, 0.1, queue)
    as_large = [x for x in kept if x.numel() == queue.numel()]
    assert as_large
    assert all(x.data_ptr() == queue.data_ptr() for x in as_large)


@pytest.mark.parametrize("supervised", [False, True])
def test_simcse_is_the_case_of_no_queue(supervised: bool) -> None:
    """SimCSE's objectives are those of sentence-transformers' MultipleNegativesRankingLoss with scale 1 / 0.05."""
    columns = randn(0, 6, 8, count=3 if supervised else 2)
    peer = MultipleNegativesRankingLoss(nn.Identity(), scale=20.0)
    wanted = peer.compute_loss_from_embeddings(columns, torch.empty(0))
    query, keys, *hard = columns
    torch.testing.assert_close(info_nce(query, keys, 0.05, hard_negatives=hard[0] if hard else None), wanted, **close)


def test_batches_of_different_sizes_are_refused() -> None:
    for a, b in ((4, 3), (3, 4)):
        with pytest.raises((ValueError, RuntimeError)):
            nt_xent(torch.randn(a, 2), torch.randn(b, 2), 0.1)
