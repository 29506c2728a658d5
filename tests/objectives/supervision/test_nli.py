from __future__ import annotations

from math import log

import pytest
import torch
from torch import Tensor, nn

from isotrope.objectives import nli_classification, nli_width_factor


@pytest.mark.parametrize("maximum", [False, True])
def test_the_classifier_reads_the_features_in_this_order(maximum: bool) -> None:
    u, v = torch.tensor([[1.0, -2.0]]), torch.tensor([[3.0, -5.0]])
    seen: list[Tensor] = []

    def classifier(features: Tensor) -> Tensor:
        seen.append(features)
        return torch.zeros(1, 3)

    loss = nli_classification(u, v, torch.tensor([2]), classifier, maximum=maximum)
    assert loss.item() == pytest.approx(log(3))
    assert seen[0].tolist() == [[1, -2, 3, -5, 2, 3, *([9, 4] if maximum else [])]]
    assert seen[0].shape[1] == nli_width_factor(maximum) * 2


@pytest.mark.parametrize("autocast", [False, True])
def test_half_precision_scores_are_compared_in_single(autocast: bool) -> None:
    torch.manual_seed(0)
    u, v, labels = torch.randn(8, 4), torch.randn(8, 4), torch.arange(8) % 3
    classifier = nn.Linear(12, 3)
    wanted = nli_classification(u, v, labels, classifier).item()
    if not autocast:
        u, v, classifier = u.bfloat16(), v.bfloat16(), classifier.bfloat16()
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=autocast):
        loss = nli_classification(u, v, labels, classifier)
    assert loss.dtype == torch.float32
    assert loss.item() == pytest.approx(wanted, rel=0.02)
