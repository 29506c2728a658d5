"""What a text view is, how it is named, and chance that depends on nothing but the seed and the text."""

from __future__ import annotations

import inspect
import random
import uuid
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Protocol, runtime_checkable

from isotrope.io.errors import IsotropeError
from isotrope.io.hashes import digest
from isotrope.parts import Called, Registry, Spec


class TextView(Protocol):
    """Another wording of each sentence."""

    @property
    def parameters(self) -> dict[str, Any]:
        """Everything that decides what comes out (kind, engine, model, numbers, seed), fit for JSON.

        With the text it is the key of the cache.
        """

    def __call__(self, sentences: Sequence[str]) -> list[str]:
        """One wording for each sentence, "" where there is none."""


class TextViewSpec(Spec):
    """What may be said about a text view."""

    @abstractmethod
    def make(self) -> TextView:
        """The view that does the work. Whatever it needs and this machine lacks is an `IsotropeError` here."""


class ImportedTextView(TextViewSpec, Called):
    """A user's function `(texts, *, settings) -> texts`, or a class whose instances are called like one."""

    def make(self) -> TextView:
        """The function with its settings, or an instance of the class."""
        function = self.thing(**self.chosen) if isinstance(self.thing, type) else partial(self.thing, **self.chosen)
        return _Imported(self, function)


TEXT_VIEWS = Registry("text_views", "isotrope.views.text", TextViewSpec, called=ImportedTextView)  # type: ignore[type-abstract]


def make_text_view(kind: Any, **settings: Any) -> TextView:
    """The text view of a kind, ready to be called on sentences.

    Args:
        kind: `"back-translation"`, `"synonyms"`, `"mlm"`, `"my_package.module:function"`, or such a function itself.
        settings: what the kind can be told: a pivot and an engine, a rate, a model, a seed ...

    Example:
        >>> from isotrope.views.text import make_text_view
        >>> make_text_view("mlm", rate=0.3, seed=2)(["The man is playing a guitar."])
        ['The man is playing the guitar.']
    """
    return TEXT_VIEWS.make(kind, **settings).make()


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


class _Imported:
    """A user's code as a text view. Its own source is part of its identity: after an edit, everything is made anew."""

    def __init__(self, spec: ImportedTextView, function: Callable[[list[str]], Sequence[str]]) -> None:
        self._spec, self._function = spec, function

    @cached_property
    def parameters(self) -> dict[str, Any]:
        return {**self._spec.model_dump(mode="json"), "code": _code_digest(self._spec)}

    def __call__(self, sentences: Sequence[str]) -> list[str]:
        wordings = list(self._function(list(sentences)))
        if len(wordings) != len(sentences) or not all(isinstance(wording, str) for wording in wordings):
            raise IsotropeError(
                f"text view '{self._spec.kind}' must return a list with one text for each of the {len(sentences)} "
                f"sentences, '' where it has none; it returned {len(wordings)} items"
            )
        return wordings


def _code_digest(spec: ImportedTextView) -> str:
    """Of the source code. What is defined inside a function may use values that the source does not show, so it never
    shares its wordings with a later run.
    """
    try:
        source = uuid.uuid4().hex if "<" in spec.kind else inspect.getsource(spec.thing)
    except (OSError, TypeError):
        source = spec.kind
    return digest(source, 8).hex()
