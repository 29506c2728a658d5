"""Matryoshka against a loop over lengths, rows and keys (Kusupati et al., 2022, equation 1)."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from isotrope.io.errors import IsotropeError
from isotrope.objectives import info_nce
from isotrope.objectives.matryoshka import Matryoshka, matryoshka


def naive(query: Tensor, keys: Tensor, queue: Tensor, temperature: float, lengths: dict[int, float]) -> float:
    total = 0.0
    for m, weight in lengths.items():
        for i in range(len(query)):
            logits = []
            for key in [*keys, *queue]:
                dot = sum(float(query[i, k] * key[k]) for k in range(m))
                norms = [math.sqrt(sum(float(v[k]) ** 2 for k in range(m))) for v in (query[i], key)]
                logits.append(dot / (norms[0] * norms[1]) / temperature)
            total += weight * (math.log(sum(math.exp(x) for x in logits)) - logits[i]) / len(query)
    return total


def test_the_loss_is_the_sum_over_lengths() -> None:
    torch.manual_seed(0)
    query, keys, queue = (torch.randn(n, 8, dtype=torch.float64) for n in (5, 5, 3))
    lengths = Matryoshka(dims=(6, 3, 1), weights=(0.5, 2.0, 1.0)).lengths(8)
    assert lengths == {8: 1.0, 6: 0.5, 3: 2.0, 1: 1.0}
    found = matryoshka(lambda cut: info_nce(cut(query), cut(keys), 0.3, cut(queue)), lengths)
    assert float(found) == pytest.approx(naive(query, keys, queue, 0.3, lengths), abs=1e-10)
    assert Matryoshka(dims=(8, 2)).lengths(8) == {8: 1.0, 2: 1.0}  # the whole length may be named


@pytest.mark.parametrize("dims", [(9,), (8,)])
def test_lengths_that_this_encoder_has_not(dims: tuple[int, ...]) -> None:
    with pytest.raises(IsotropeError, match="this encoder's vectors have 8 numbers"):
        Matryoshka(dims=dims).lengths(8)
