"""What a text view is, and chance that depends on nothing but the seed and the text."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable


class TextView(Protocol):
    """Another wording of each sentence."""

    @property
    def parameters(self) -> dict[str, Any]:
        """All that decides what comes out (kind, engine, model, numbers, seed), fit for JSON.

        With the text it is the key of the cache.
        """

    def __call__(self, sentences: Sequence[str]) -> list[str]:
        """One wording for each sentence, "" where there is none."""


@dataclass(frozen=True)
class Outcome:
    """A wording, or "" and what was wrong with it. Without a reason the view just had nothing to say."""

    wording: str
    flaw: str = ""


@runtime_checkable
class Explaining(Protocol):
    """A text view that also says why a sentence has no wording, so that it can be counted."""

    def outcomes(self, sentences: Sequence[str]) -> list[Outcome]:
        """One for each sentence."""


def outcomes(view: TextView, sentences: Sequence[str]) -> list[Outcome]:
    """What a view makes of the sentences, with its reasons if it gives any."""
    if isinstance(view, Explaining):
        return view.outcomes(sentences)
    return [Outcome(wording) for wording in view(sentences)]


def draws(text: str, seed: int) -> random.Random:
    """The chance of one sentence: the same in any order, in any company and after any interruption."""
    return random.Random(f"{seed} {text}")
