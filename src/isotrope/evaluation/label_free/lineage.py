"""How one encoder came of another. What its neighbourhoods say depends on it (docs/domains.md)."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import torch
from torch import Tensor, nn

Lineage: TypeAlias = Literal["fitted", "trained", "unknown"]
RELATED = 0.5  # cosine of the word embeddings; training hardly turns them, and those of another model are anywhere


def lineage(after: Any, before: Any) -> Lineage | None:
    """`fitted`: what differs comes behind the same transformer (a map, a pooling). `trained`: the transformer's weights
    have moved. None: neither was made from the other. An encoder that shows no transformer may be anything.
    """
    first, second = (getattr(encoder, "transformer", None) for encoder in (after, before))
    if not (isinstance(first, nn.Module) and isinstance(second, nn.Module)):
        return "unknown"
    mine, theirs = first.state_dict(), second.state_dict()
    if mine.keys() == theirs.keys() and all(_equal(mine[name], theirs[name]) for name in mine):
        return "fitted"
    return "trained" if _related(first, second) else None


def _equal(a: Tensor, b: Tensor) -> bool:
    return a.shape == b.shape and torch.equal(a.cpu().float(), b.cpu().float())


def _related(first: nn.Module, second: nn.Module) -> bool:
    """By the word embeddings, a transformer's first weight."""
    a, b = (next(module.parameters(), torch.empty(0)).detach().cpu().float() for module in (first, second))
    return a.shape == b.shape and float(torch.cosine_similarity(a.flatten(), b.flatten(), dim=0)) > RELATED
