"""Whether one encoder can have been tuned from another. Only then is a change of neighbourhoods one of tuning."""

from __future__ import annotations

from typing import Any

from torch import nn


def may_be_tuned_from(after: Any, before: Any) -> bool:
    """Not if their word embeddings differ in number or width; an encoder that shows none may be anything."""
    first, second = (_word_embeddings(getattr(encoder, "transformer", None)) for encoder in (before, after))
    return first is None or second is None or first == second


def _word_embeddings(transformer: Any) -> tuple[int, ...] | None:
    """Words and dimensions: the shape of a transformer's first weight."""
    weight = next(transformer.parameters(), None) if isinstance(transformer, nn.Module) else None
    return None if weight is None else tuple(weight.shape)
