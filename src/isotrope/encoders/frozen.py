"""How a recipe names an encoder that stays as it is."""

from __future__ import annotations

from typing import NamedTuple

START = "start"


class FrozenModel(NamedTuple):
    """`name` is "start", the encoder that a stage starts from, as saved, or a model's name or folder.

    `pooling` None is the model's own, which a bare transformer does not have.
    """

    name: str
    pooling: str | None = None
