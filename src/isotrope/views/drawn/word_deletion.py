"""Deleted words: the noise of TSDAE (Wang et al. 2021, section 3)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from isotrope.views.drawn.base import Chance, Draw, DrawnText, Ground
from isotrope.views.drawn.words import words_of


class WordDeletion(DrawnText):
    """Each word is deleted with probability `rate`, but never all of them."""

    kind: Literal["word-deletion"] = "word-deletion"
    rate: float = Field(default=0.6, gt=0, lt=1)

    def prepare(self, ground: Ground) -> Draw:
        """Needs no preparation."""
        return _Deleted(self.rate)


class _Deleted(Draw):
    def __init__(self, rate: float) -> None:
        self.rate = rate

    def text(self, text: str, chance: Chance) -> str:
        """What is left of the text."""
        words, between = words_of(text)
        kept = [word for word in words if chance.own.random() >= self.rate]
        return between.join(kept).strip() or chance.own.choice(words)
