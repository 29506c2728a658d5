"""What a text that is drawn anew at each batch has to know, and the chance that decides about it.

For each row of a batch a `Draw` is asked three things, one after the other:

    row      which row of the corpus is read; its own, unless the view is another sentence (a neighbour, say)
    text     what is read of that row's text
    tokens   what is read of that text's tokens

Chance depends on the run's seed, the batch and the row alone: not on the other rows of the batch, nor on the process
that has them. So a resumed run, and one of several processes, sees what an uninterrupted single one would have.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from isotrope.io.errors import IsotropeError
from isotrope.parts import Called, Spec

if TYPE_CHECKING:
    from isotrope.encoders import Encoder
    from isotrope.encoders.frozen import FrozenModel
    from isotrope.encoders.nearest import Floats
    from isotrope.text.corpus import Corpus


@dataclass(frozen=True)
class Ground:
    """What a `Draw` may prepare itself from before training."""

    view: str  # `first` or `second`
    column: str  # of the corpus
    corpus: Corpus
    held_out: frozenset[int]  # rows that must not be trained on
    encoder: Encoder  # what the stage starts from, with its evaluation pooling. It will learn: use it now, or copy it
    folder: Path  # for what it computes: a resumed run finds it there. It need not exist yet
    vectors: Callable[[FrozenModel], Floats]  # what a frozen encoder makes of the column, (rows, dim), from disk
    vectors_now: Callable[[], Floats]  # what the student, as it is now, makes of it
    main_first: Callable[[], AbstractContextManager[Any]]  # a context that the first of several processes enters first


@dataclass(frozen=True)
class Chance:
    """What chance says about one row in one batch: to each view its `own`, and in `common` the same to both."""

    own: random.Random
    common: random.Random

    @classmethod
    def of(cls, batch: int, row: int, view: str) -> Chance:
        """`batch` is a number that only this batch has."""
        return cls(random.Random(f"{batch} {row} {view}"), random.Random(f"{batch} {row}"))


class Draw:
    """Draws the text of one column of one view. What is not overridden leaves things as they stand."""

    def at(self, step: int) -> None:
        """Called before the texts of each step are drawn, with the number of steps that were taken."""

    def row(self, row: int, chance: Chance) -> int:
        """The row of the corpus that is read in place of `row`."""
        return row

    def text(self, text: str, chance: Chance) -> str:
        """What is read of a text; never blank."""
        return text

    def tokens(self, ids: list[int], reader: Encoder, chance: Chance) -> list[int]:
        """What is read of the token ids that the encoder `reader` has for a text."""
        return ids


class DrawnText(Spec):
    """What a recipe says about how the text of a view is drawn: `views.first.draw`, `views.second.draw`."""

    fixed: ClassVar[bool] = False  # nothing is drawn
    other_rows: ClassVar[bool] = False  # the text may be another row's
    of_documents: ClassVar[bool] = False  # takes parts of whole texts, however long: `unit="auto"` never splits them
    alters: ClassVar[bool] = True  # the text is not that of any row, so that no vector of a row stands for it

    @property
    def models(self) -> tuple[FrozenModel, ...]:
        """Frozen encoders that it prepares itself by."""
        return ()

    def prepare(self, ground: Ground) -> Draw:
        """What draws. With several processes the first one is called first, so that the others find what it made."""
        raise NotImplementedError

    def misfit(self, other: DrawnText, same_text: bool) -> str | None:
        """Why it does not go with how the other view is drawn; `same_text`: both views read the same columns."""
        return None


class CalledDrawnText(Called, DrawnText):
    """One of one's own: `def shorten(text, *, chance: random.Random, rate: float = 0.2) -> str`, or a `Draw` class.

    The class is called with the `Ground` and its keyword-only arguments.
    """

    given: ClassVar[tuple[str, ...]] = ("chance",)

    def prepare(self, ground: Ground) -> Draw:
        """An object of the class, or the function behind the face of a `Draw`."""
        thing = type(self).thing
        if isinstance(thing, type):
            made: Draw = thing(ground, **self.chosen)
            return made
        return _Function(self)


class _Function(Draw):
    def __init__(self, spec: CalledDrawnText) -> None:
        self.spec = spec

    def text(self, text: str, chance: Chance) -> str:
        drawn: Any = type(self.spec).thing(text, chance=chance.own, **self.spec.chosen)
        if not isinstance(drawn, str) or not drawn.strip():
            raise IsotropeError(
                f"draw '{self.spec.kind}' must return a text that is not blank; it returned {drawn!r:.60}"
            )
        return drawn
