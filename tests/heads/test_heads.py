"""The heads that are dropped after training: sizes, starts and shapes of papers 1 and 3."""

from __future__ import annotations

import pytest
import torch
from pydantic import ValidationError
from torch import nn

from isotrope.heads import PREDICTORS, PROJECTIONS, HeadSpec
from isotrope.heads.base import SizedHead
from isotrope.heads.linear import Linear
from isotrope.heads.predictor import Predictor
from isotrope.heads.projection import Projection
from isotrope.parts import Registry


def kinds(head: nn.Sequential) -> list[str]:
    return [type(part).__name__ for part in head]


def test_projection_head_is_that_of_paper_1() -> None:
    """4,096 wide for BERT-base, a GELU behind each layer; weights N(0, initializer_range), biases 0 as published."""
    torch.manual_seed(0)
    head = Projection().build(768, 4096, std=0.02)
    assert kinds(head) == ["Linear", "GELU", "Linear", "GELU"]
    assert [tuple(part.weight.shape) for part in head if isinstance(part, nn.Linear)] == [(4096, 768), (4096, 4096)]
    for part in head:
        if isinstance(part, nn.Linear):
            assert abs(float(part.weight.detach().std()) - 0.02) < 1e-4
            assert not part.bias.any()


@pytest.mark.parametrize("dim", [256, 384, 768, 1024])
def test_projection_is_4_096_wide_whatever_the_encoder(dim: int) -> None:
    assert Projection().own_width(dim) == 4096
    assert Projection(width=64).own_width(dim) == 64
    assert Projection(ratio=0.5).own_width(dim) == dim / 2


@pytest.mark.parametrize("head", [Projection, Predictor])
def test_a_head_has_a_width_or_a_ratio(head: type[SizedHead]) -> None:
    (inner, *_) = head(width=5).build(16, 4, std=0.02).children()
    assert isinstance(inner, nn.Linear)
    assert inner.weight.shape == (5, 16)
    with pytest.raises(ValidationError, match="width and ratio are both given; leave out one of them"):
        head(width=5, ratio=2)


def test_predictor_is_that_of_paper_3() -> None:
    """kd, kd, d with k = 8; batch norm and ReLU on the inner layers."""
    head = Predictor().build(16, 16, std=0.02)
    assert kinds(head) == ["Linear", "BatchNorm1d", "ReLU", "Linear", "BatchNorm1d", "ReLU", "Linear"]
    assert [tuple(part.weight.shape) for part in head if isinstance(part, nn.Linear)] == [
        (128, 16),
        (128, 128),
        (16, 128),
    ]


def test_predictor_of_the_published_code_stacks_three() -> None:
    """Nine linear layers, k = 10, batch norm behind the first layer of each block only."""
    head = Predictor(ratio=10, blocks=3, norm="first").build(16, 16, std=0.02)
    assert kinds(head).count("Linear") == 9
    assert kinds(head) == ["Linear", "BatchNorm1d", "ReLU", "Linear", "ReLU", "Linear"] * 3
    assert head(torch.randn(4, 16)).shape == (4, 16)


def test_a_linear_head_is_one_layer() -> None:
    head = Linear(bias=False)
    assert head.own_width(16) == 16
    made = head.build(16, 5, std=0.02)
    assert isinstance(made, nn.Linear)
    assert made.weight.shape == (5, 16)
    assert made.bias is None


@pytest.mark.parametrize("registry", [PROJECTIONS, PREDICTORS], ids=["projections", "predictors"])
@pytest.mark.parametrize("out", [4, 16, 20])
def test_every_head_ends_as_wide_as_it_is_told(registry: Registry[HeadSpec], out: int) -> None:
    for kind in registry.kinds:
        head = registry.make(kind).build(16, out, std=0.02)
        assert head(torch.randn(3, 16)).shape == (3, out)


def test_an_empty_section_is_the_head_of_its_place() -> None:
    assert PROJECTIONS.read({}) == Projection()
    assert PREDICTORS.read({}) == Predictor()


def test_a_head_of_ones_own_is_called_with_its_widths() -> None:
    def bottleneck(dim: int, out: int, *, hidden: int = 2) -> nn.Module:
        return nn.Sequential(nn.Linear(dim, hidden), nn.Linear(hidden, out))

    made = PREDICTORS.make(bottleneck, hidden=3).build(16, 5, std=0.02)
    assert [tuple(part.weight.shape) for part in made.children()] == [(3, 16), (5, 3)]
