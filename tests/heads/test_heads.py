"""The heads that are dropped after training: sizes, starts and shapes of papers 1 and 3."""

from __future__ import annotations

import torch
from torch import nn

from isotrope.training.heads import predictor_head, projection_head, set_dropout


def kinds(head: nn.Sequential) -> list[str]:
    return [type(part).__name__ for part in head]


def test_projection_head_is_that_of_paper_1() -> None:
    """4,096 wide for BERT-base, a GELU behind each layer; weights N(0, initializer_range), biases 0 as published."""
    torch.manual_seed(0)
    head = projection_head(768, ratio=16 / 3, layers=2, std=0.02)
    assert kinds(head) == ["Linear", "GELU", "Linear", "GELU"]
    assert [tuple(part.weight.shape) for part in head if isinstance(part, nn.Linear)] == [(4096, 768), (4096, 4096)]
    for part in head:
        if isinstance(part, nn.Linear):
            assert abs(float(part.weight.detach().std()) - 0.02) < 1e-4
            assert not part.bias.any()


def test_predictor_is_that_of_paper_3() -> None:
    """kd, kd, d with k = 8; batch norm and ReLU on the inner layers."""
    head = predictor_head(16, 16, ratio=8, blocks=1, norm="inner")
    assert kinds(head) == ["Linear", "BatchNorm1d", "ReLU", "Linear", "BatchNorm1d", "ReLU", "Linear"]
    assert [tuple(part.weight.shape) for part in head if isinstance(part, nn.Linear)] == [
        (128, 16),
        (128, 128),
        (16, 128),
    ]


def test_predictor_of_the_published_code_stacks_three() -> None:
    """Nine linear layers, k = 10, batch norm behind the first layer of each block only."""
    head = predictor_head(16, 16, ratio=10, blocks=3, norm="first")
    assert kinds(head).count("Linear") == 9
    assert kinds(head) == ["Linear", "BatchNorm1d", "ReLU", "Linear", "ReLU", "Linear"] * 3
    assert head(torch.randn(4, 16)).shape == (4, 16)


def test_dropout_is_set_everywhere() -> None:
    model = nn.Sequential(nn.Dropout(0.1), nn.TransformerEncoderLayer(8, 2, 16, dropout=0.3))
    set_dropout(model, 0.0)
    assert {part.p for part in model.modules() if isinstance(part, nn.Dropout)} == {0.0}
