from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

SOURCE = '''
from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from isotrope.objectives.base import Weighted
from isotrope.views.embedding.base import AtLayer

if TYPE_CHECKING:  # what isotrope gives need not be importable
    from somewhere import Batch, Tensor

NUMBER = 3


class Noise(AtLayer):
    """Gaussian noise."""

    kind: Literal["noise"] = "noise"
    std: float = 0.1

    def __call__(self, embeddings: Tensor, batch: Batch) -> Tensor:
        return embeddings + self.std


def noise(embeddings: Tensor, batch: Batch, *, std: float = 0.1, sign: Literal[1, -1] = 1) -> Tensor:
    """Adds a constant."""
    return embeddings + sign * std


def margin(c: Tensor, h: Tensor, *, margin: float) -> Tensor:
    return (margin - (c * h).sum(-1)).mean()


def greedy(c: Tensor, h: Tensor, *, queue: Tensor | None, hard: Tensor | None, scale: float = 1.0) -> Tensor:
    return scale * (c - h).square().mean()


class Halved:
    def __init__(self, dim: int, out: int, *, times: int = 1) -> None:
        self.widths = dim, out, times


def taken(c, h, *, anchor: float = 1.0):
    return c


def shadows(c, h, *, takes_negatives: bool = True):
    return c


def unknown(c, h, *, number: Fraction = 1):
    return c


def strange(c, h, *, batch: object() = 1):
    return c
'''


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """`module:name` in a module of a user's own; each test has another one."""
    name = f"own_parts_{abs(hash(tmp_path))}"
    (tmp_path / f"{name}.py").write_text(SOURCE)
    monkeypatch.syspath_prepend(tmp_path)
    return lambda thing: f"{name}:{thing}"
