"""Crops: two spans of one document are its two views.

Independent cropping is Contriever's (Izacard et al. 2022, Unsupervised Dense Information Retrieval with Contrastive
Learning, section 3.1: spans of tokens, between 5% and 50% of the document). Whole sentences are cropped, two at a time,
by González-Márquez et al. 2025 (Cropping outperforms dropout as an augmentation strategy, arXiv 2508.03453).
"""

from __future__ import annotations

import random
from typing import Annotated, Literal

from pydantic import Field, model_validator

from isotrope.text.sentences import split_sentences
from isotrope.views.drawn.base import Chance, Draw, DrawnText, Ground

Share = Annotated[float, Field(gt=0, le=1)]
Shares = tuple[Share, Share]


class Crop(DrawnText):
    """A span of a text, its length and its place drawn anew each time. Sentences stay whole.

    `size` is a number of sentences, or the least and the largest share of the text's sentences, of which one is drawn.
    A text of one sentence gives a span of whole words: `words` is the least and the largest share of them. With
    `overlap` off both views are drawn together: the text is cut in two at a random place, and each view is a span of
    its own part.
    """

    of_documents = True

    kind: Literal["crop"] = "crop"
    size: Annotated[int, Field(ge=1)] | Shares = (0.05, 0.5)
    words: Shares = (0.5, 0.9)
    overlap: bool = True

    @model_validator(mode="after")
    def _in_order(self) -> Crop:
        for name in ("size", "words"):
            shares = getattr(self, name)
            if isinstance(shares, tuple) and shares[0] > shares[1]:
                raise ValueError(f"{name} is the least and the largest share, in this order")
            if shares == (1.0, 1.0):
                raise ValueError(f"{name} [1.0, 1.0] would always be the whole text")
        return self

    def prepare(self, ground: Ground) -> Draw:
        """Needs no preparation."""
        return _Cropped(self, first=ground.view == "first")

    def misfit(self, other: DrawnText, same_text: bool) -> str | None:
        """Two crops that must not overlap are drawn as one."""
        if self.overlap or (other == self and same_text):
            return None
        return "draw.overlap = false takes both views from one text: give both the same draw and the same column"


class _Cropped(Draw):
    def __init__(self, spec: Crop, *, first: bool) -> None:
        self.spec, self.first = spec, first

    def text(self, text: str, chance: Chance) -> str:
        """A span of the text."""
        pieces, between, size = split_sentences(text) or [text], " ", self.spec.size
        if len(pieces) == 1:
            pieces, between = words_of(text)
            size = self.spec.words
        if not self.spec.overlap and len(pieces) > 1:
            pieces = self._part(pieces, chance.common)
        length = _length(len(pieces), size, chance.own)
        start = chance.own.randrange(len(pieces) - length + 1)
        return between.join(pieces[start : start + length])

    def _part(self, pieces: list[str], common: random.Random) -> list[str]:
        """One side of a boundary; both views draw the same one, and take different sides."""
        cut, before = common.randrange(1, len(pieces)), common.random() < 0.5
        return pieces[:cut] if before == self.first else pieces[cut:]


def _length(pieces: int, size: int | Shares, chance: random.Random) -> int:
    """How many pieces a span has: one at least, and fewer than there are."""
    wanted = size if isinstance(size, int) else round(pieces * chance.uniform(*size))
    return max(1, min(wanted, pieces - 1))


def words_of(text: str) -> tuple[list[str], str]:
    """The words of a sentence, and what stands between them; its characters where the script has no spaces."""
    words = text.split()
    return (list(text), "") if len(words) == 1 and not text.isascii() else (words or [text], " ")
