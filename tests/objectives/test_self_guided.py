from __future__ import annotations

from math import log

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss
from torch import Tensor, nn

from isotrope.io.errors import IsotropeError
from isotrope.objectives import info_nce
from isotrope.objectives.self_guided import VARIANTS, self_guided

quick = settings(max_examples=30, deadline=None)
close = {"rtol": 0, "atol": 1e-10}
seeds = st.integers(0, 10**6)


def batch(seed: int, variant: str, n: int = 4, d: int = 3, layers: int = 3) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    views = (n, layers, d) if variant == "opt3" else (n, d)
    return (
        torch.randn(n, d, generator=generator, dtype=torch.float64),
        torch.randn(views, generator=generator, dtype=torch.float64),
    )


@pytest.mark.parametrize("variant", ["opt1", "opt2", "opt3"])
@quick
@given(seed=seeds, n=st.integers(1, 6))
def test_order_and_lengths_do_not_matter(variant: str, seed: int, n: int) -> None:
    c, h = batch(seed, variant, n)
    loss = self_guided(c, h, 0.1, variant)
    order = torch.randperm(n)
    torch.testing.assert_close(self_guided(c[order], h[order], 0.1, variant), loss, **close)
    torch.testing.assert_close(self_guided(c * 0.01, h * 100, 0.1, variant), loss, **close)
    if variant == "opt3":
        torch.testing.assert_close(self_guided(c, h.flip(1), 0.1, variant), loss, **close)


@quick
@given(seeds, st.integers(1, 6))
def test_opt3_of_one_layer_is_opt2_is_info_nce(seed: int, n: int) -> None:
    c, h = batch(seed, "opt2", n)
    torch.testing.assert_close(self_guided(c, h[:, None], 0.1, "opt3"), self_guided(c, h, 0.1, "opt2"), **close)
    torch.testing.assert_close(self_guided(c, h, 0.1, "opt2"), info_nce(c, h, 0.1), **close)


def test_opt1_is_a_ranking_loss_that_also_looks_at_the_queries() -> None:
    c, h = batch(0, "opt1", n=6)
    peer = MultipleNegativesRankingLoss(nn.Identity(), scale=10.0, directions=("query_to_doc", "query_to_query"))
    torch.testing.assert_close(
        self_guided(c, h, 0.1, "opt1"), peer.compute_loss_from_embeddings([c, h], torch.empty(0)), **close
    )


@pytest.mark.parametrize("temperature", [0.01, 1.0])
def test_known_values(temperature: float) -> None:
    """Every cosine is 1, so a loss is the logarithm of the number of its candidates."""
    n, layers = 4, 3
    c, h = torch.ones(n, 2).double(), torch.ones(n, layers, 2).double()
    found = {name: self_guided(c, h if name == "opt3" else h[:, 0], temperature, name).item() for name in VARIANTS}
    candidates = {"opt1": 2 * n - 1, "opt2": n, "opt2-official": n - 1, "opt3": 1 + (n - 1) * layers}
    assert found == pytest.approx({name: log(count) for name, count in candidates.items()})


def test_the_published_opt2_loses_the_first_negative_of_each_sentence() -> None:
    c, h = batch(0, "opt2", n=4)
    for i in range(4):
        h_i = h.clone().requires_grad_()
        # the gradient of one sentence's loss: the others are made constant
        self_guided(torch.where(torch.arange(4)[:, None] == i, c, 0), h_i, 1.0, "opt2-official").backward()
        unseen = [j for j in range(4) if h_i.grad[j].eq(0).all()]
        assert unseen == [1 if i == 0 else 0]
    assert self_guided(c, h, 0.1, "opt2-official") < self_guided(c, h, 0.1, "opt2")


@pytest.mark.parametrize("variant", VARIANTS)
def test_one_sentence_alone_has_no_loss_and_no_gradient(variant: str) -> None:
    c, h = (x.requires_grad_() for x in batch(0, variant, n=1))
    loss = self_guided(c, h, 0.01, variant)
    loss.backward()
    assert loss.item() == 0
    assert c.grad.eq(0).all()
    assert h.grad.eq(0).all()


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
@pytest.mark.parametrize("temperature", [0.001, 0.1])
def test_low_precision_gives_the_loss_of_its_numbers(variant: str, dtype: torch.dtype, temperature: float) -> None:
    c, h = (x.to(dtype).requires_grad_() for x in batch(0, variant, n=16, d=32))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = self_guided(c, h, temperature, variant)
    loss.backward()
    assert loss.dtype == torch.float32
    assert loss.item() == pytest.approx(self_guided(c.double(), h.double(), temperature, variant).item(), rel=1e-5)
    assert c.grad.isfinite().all()
    assert h.grad.isfinite().all()


@pytest.mark.parametrize("variant", VARIANTS)
def test_zero_vectors_give_numbers(variant: str) -> None:
    c, h = batch(0, variant)
    c[0], h[1] = 0, 0
    self_guided(c.requires_grad_(), h.requires_grad_(), 0.001, variant).backward()
    assert c.grad.isfinite().all()
    assert h.grad.isfinite().all()


def test_opt3_keeps_nothing_larger_than_its_similarities() -> None:
    n, layers, d = 32, 7, 16
    c, h = (x.requires_grad_() for x in batch(0, "opt3", n, d, layers))
    kept: list[int] = []
    with torch.autograd.graph.saved_tensors_hooks(lambda x: kept.append(x.numel()) or x, lambda x: x):
        self_guided(c, h, 0.01, "opt3")
    assert max(kept) == n * n * layers


def test_mistakes_are_named() -> None:
    c, h = batch(0, "opt2")
    with pytest.raises(IsotropeError, match=r"unknown variant 'opt4' \(did you mean 'opt"):
        self_guided(c, h, 0.1, "opt4")
    with pytest.raises(IsotropeError, match=r"opt3 takes h of shape \(n, layers, d\), not \(4, 3\)"):
        self_guided(c, h, 0.1, "opt3")
    with pytest.raises(IsotropeError, match=r"opt1 takes h of shape \(n, d\), not \(4, 1, 3\)"):
        self_guided(c, h[:, None], 0.1, "opt1")
