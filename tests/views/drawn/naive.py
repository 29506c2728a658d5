"""Draws of texts that need no encoder; for the tests beside."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from isotrope.views.drawn import DRAWN, Chance, Draw, Ground

NOTHING: Any = None


def draw_of(kind: Any, view: str = "first", **settings: Any) -> Draw:
    nowhere = Path("nowhere")
    ground = Ground(view, "text", NOTHING, frozenset(), NOTHING, nowhere, NOTHING, NOTHING, NOTHING)
    return DRAWN.make(kind, **settings).prepare(ground)


def drawn(draw: Draw, text: str, count: int, view: str = "first") -> list[str]:
    """What `count` batches make of a text in row 7."""
    return [draw.text(text, Chance.of(batch, 7, view)) for batch in range(count)]
