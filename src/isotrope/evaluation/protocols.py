"""What evaluation asks of others: an encoder to evaluate, and a display for progress."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray


class SentenceEncoder(Protocol):
    """Anything that turns sentences into vectors: an isotrope or sentence-transformers encoder, a baseline."""

    def encode(self, sentences: list[str], *, batch_size: int = ...) -> NDArray[np.floating[Any]]:
        """One vector per sentence, in their order: (sentences, dim)."""
        ...


class Advance(Protocol):
    """Moves a progress bar."""

    def __call__(self, more: int, now: str | None = None) -> None:
        """`more` items are done; `now` is what is being worked on."""


class Display(Protocol):
    """Shows what is going on during a long call. The command line has one for terminals (`isotrope.cli.console`)."""

    def waiting(self, title: str) -> AbstractContextManager[Any]:
        """While something of unknown length runs."""

    def counting(self, title: str, total: int | None) -> AbstractContextManager[Advance]:
        """While `total` items are worked through."""


class Silent:
    """A display that shows nothing."""

    def waiting(self, title: str) -> AbstractContextManager[Any]:
        """Nothing."""
        return nullcontext()

    def counting(self, title: str, total: int | None) -> AbstractContextManager[Advance]:
        """Nothing."""
        return nullcontext(lambda more, now=None: None)


SILENT = Silent()
