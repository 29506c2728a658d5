"""Every kind of distillation equals its naive twin to 1e-10 in float64, and has the gradient of finite differences."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from isotrope.objectives.distillation import DISTILLATION
from isotrope.objectives.distillation.base import Vectors

from . import naive_distillation as naive

N, D = 6, 4
equal = {"rel": 0, "abs": 1e-10}


def drawn(seed: int) -> Callable[..., Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return lambda *shape: torch.randn(shape, generator=generator, dtype=torch.float64)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["vectors cosine", "vectors mse", "similarities"])
def test_of_one_view(kind: str, seed: int) -> None:
    draw = drawn(seed)
    s, t = draw(N, D), draw(N, D)
    name, _, distance = kind.partition(" ")
    spec = DISTILLATION.make(name, weight=0.7, **({"distance": distance} if distance else {}))
    twin = {"cosine": naive.vector_cosine, "mse": naive.vector_mse, "": naive.similarities}[distance]
    found = spec(Vectors(s, draw(N, D)), [Vectors(t, t)])
    assert found.keys() == {"distillation"}
    assert found["distillation"].item() == pytest.approx(0.7 * twin(s.tolist(), t.tolist()), **equal)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["listnet", "listmle"])
def test_ranking_by_two_teachers(kind: str, seed: int) -> None:
    draw = drawn(seed)
    s, t1, t2 = (Vectors(draw(N, d), draw(N, d)) for d in (D, 3, 5))
    settings = {"temperature": 0.3, "teachers": ["start", "other"], "alpha": 0.25, "weight": 0.5}
    settings |= {"consistency": 2.0, "consistency_temperature": 0.6}
    settings |= {"teacher_temperature": 0.2} if kind == "listnet" else {}
    found = DISTILLATION.make(kind, **settings)(s, [t1, t2])
    own, back, one, other = (naive.lists(a.tolist(), b.tolist()) for a, b in (s, reversed(s), t1, t2))
    wanted = naive.weighted(one, other, 0.25)
    loss = naive.listnet(own, wanted, 0.3, 0.2) if kind == "listnet" else naive.listmle(own, wanted, 0.3)
    assert found["distillation"].item() == pytest.approx(0.5 * loss, **equal)
    assert found["consistency"].item() == pytest.approx(2 * naive.consistency(own, back, 0.6), **equal)


def test_one_view_is_always_consistent() -> None:
    s = drawn(0)(N, D)
    found = DISTILLATION.make("listmle", consistency=1.0)(Vectors(s, s), [Vectors(s, s)])
    assert found["consistency"].item() == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("kind", ["vectors", "similarities", "listnet", "listmle"])
def test_gradients_and_batches_of_one(kind: str) -> None:
    draw = drawn(1)
    teacher = Vectors(draw(N, D), draw(N, D))
    settings = {"consistency": 0.5} if kind.startswith("list") else {}
    spec = DISTILLATION.make(kind, **settings)

    def loss(first: Tensor, second: Tensor) -> Tensor:
        return torch.stack(list(spec(Vectors(first, second), [teacher]).values())).sum()

    assert torch.autograd.gradcheck(loss, [draw(N, D).requires_grad_(), draw(N, D).requires_grad_()])
    alone = spec(Vectors(draw(1, D), draw(1, D)), [Vectors(draw(1, D), draw(1, D))])
    assert all(bool(part.isfinite()) for part in alone.values())


def test_what_the_spec_refuses() -> None:
    for settings, message in (
        ({"alpha": 0.3}, "alpha is the share of the first of two teachers"),
        ({"teachers": ["a", "a"]}, "names 'a' twice"),
        ({"teachers": []}, "at least 1 item"),
        ({"teacher_pooling": "cls"}, "the teacher 'start' keeps its own"),
        ({"teacher_pooling": "clss", "teachers": ["a"]}, "unknown pooling 'clss'"),
        ({"consistency_temperature": 0.1}, "has no effect while consistency is 0"),
    ):
        with pytest.raises(Exception, match=message):
            DISTILLATION.make("listmle", **settings)
