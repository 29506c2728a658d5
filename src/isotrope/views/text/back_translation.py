"""Back-translation: a sentence to another language and back (papers 1 and 3). One pivot language is one view."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

from isotrope.io.errors import IsotropeError, nearest
from isotrope.views.text.base import Outcome
from isotrope.views.text.engines.apertium import Apertium
from isotrope.views.text.engines.bergamot import Bergamot
from isotrope.views.text.language import is_wrong_language, language_check

ENGINES = ("bergamot", "apertium", "transformers")  # in the order in which `auto` tries them
BLANKS = re.compile(r"[\s\x00-\x1f\x7f]+")


class Engine(Protocol):
    """A translator. Languages are two letters (`en`), or whatever code its model has."""

    @property
    def name(self) -> str:
        """As one asks for it."""

    def lacks(self, source: str, target: str) -> str:
        """What is missing here to translate, and how to get it; "" if nothing is."""

    def parameters(self, source: str, target: str) -> dict[str, Any]:
        """All that decides how it translates, fit for JSON."""

    def translate(self, sentences: Sequence[str], source: str, target: str) -> list[str]:
        """One translation for each sentence, "" where it has none."""

    def flaw(self, sentence: str, translation: str) -> str:
        """What the engine itself shows to be wrong with a translation; "" if nothing."""


@dataclass
class BackTranslation:
    """Wordings by way of the language `pivot`.

    `engine` is bergamot (offline, en-pt), apertium (a program with its language pairs) or transformers (models of the
    Hub, or folders); `auto` takes the first of them that can do it here. What follows is for transformers only:
    `model`, `beam` (5; paper 1 has 100) or `sampling` at a `temperature`, and `max_length` in tokens.
    """

    pivot: str = "pt"
    engine: str = "auto"
    source: str = "en"
    model: str | None = None
    beam: int | None = None
    sampling: bool = False
    temperature: float | None = None
    max_length: int | None = None
    seed: int = 1

    def __post_init__(self) -> None:
        """Finds the engine, so that whatever is missing is said at once."""
        if self.pivot == self.source:
            raise IsotropeError(f"the pivot '{self.pivot}' is the language of the sentences; choose another")
        self._engine = self._find_engine()

    @cached_property
    def parameters(self) -> dict[str, Any]:
        """All that decides what comes out. `seed` is null where chance has no part in it."""
        return {
            "kind": "back-translation",
            "engine": self._engine.name,
            "source": self.source,
            "pivot": self.pivot,
            "there": self._engine.parameters(self.source, self.pivot),
            "back": self._engine.parameters(self.pivot, self.source),
            "language check": language_check(),
            "seed": self.seed if self.sampling else None,
        }

    def __call__(self, sentences: Sequence[str]) -> list[str]:
        """One wording for each sentence, "" where there is none."""
        return [outcome.wording for outcome in self.outcomes(sentences)]

    def outcomes(self, sentences: Sequence[str]) -> list[Outcome]:
        """One for each sentence; those that came back in the wrong language or with unknown words say so."""
        there = self._translated([BLANKS.sub(" ", text).strip() for text in sentences], self.source, self.pivot)
        back = self._translated([outcome.wording for outcome in there], self.pivot, self.source)
        return [
            self._checked(text, second if first.wording else first)
            for text, first, second in zip(sentences, there, back, strict=True)
        ]

    def _translated(self, texts: Sequence[str], source: str, target: str) -> list[Outcome]:
        some = [text for text in texts if text]
        translations = iter(self._engine.translate(some, source, target))
        return [self._marked(text, next(translations)) if text else Outcome("") for text in texts]

    def _marked(self, text: str, translation: str) -> Outcome:
        flaw = self._engine.flaw(text, translation)
        return Outcome("", flaw) if flaw else Outcome(translation)

    def _checked(self, text: str, outcome: Outcome) -> Outcome:
        if outcome.wording and is_wrong_language(outcome.wording, text, self.source, self.pivot):
            return Outcome("", "wrong language")
        return outcome

    def _find_engine(self) -> Engine:
        if self.engine not in ("auto", *ENGINES):
            raise IsotropeError(
                f"unknown engine '{self.engine}'{nearest(self.engine, ENGINES)}; choose auto, {', '.join(ENGINES)}"
            )
        names = ENGINES if self.engine == "auto" else (self.engine,)
        if given := self._for_transformers():
            if "transformers" not in names:
                raise IsotropeError(f"engine '{self.engine}' has no {next(iter(given))}; choose --engine transformers")
            names = ("transformers",)
        lacking = []
        for name in names:
            engine = self._make_engine(name, given)
            lack = engine.lacks(self.source, self.pivot) or engine.lacks(self.pivot, self.source)
            if not lack:
                return engine
            lacking.append(lack)
        if len(lacking) == 1:
            raise IsotropeError(lacking[0])
        raise IsotropeError(f"nothing here translates {self.source}-{self.pivot} and back: {'; '.join(lacking)}")

    def _for_transformers(self) -> dict[str, Any]:
        """The settings that were given and that only transformers has."""
        settings = {name: getattr(self, name) for name in ("model", "beam", "temperature", "max_length")}
        given = {name: value for name, value in settings.items() if value is not None}
        if self.sampling:
            given["sampling"] = True
            if self.beam is not None:
                raise IsotropeError("beam search and sampling exclude each other; leave out one of them")
        elif self.temperature is not None:
            raise IsotropeError("a temperature is for sampling; ask for both")
        return given

    def _make_engine(self, name: str, settings: dict[str, Any]) -> Engine:
        if name == "bergamot":
            return Bergamot()
        if name == "apertium":
            return Apertium()
        from isotrope.views.text.engines.transformers import Transformers  # slow to import

        return Transformers(**settings, seed=self.seed)
