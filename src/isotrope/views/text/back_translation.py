"""Back-translation: a sentence to another language and back (papers 1 and 3). One pivot language is one view."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator
from pydantic_core import PydanticCustomError

from isotrope.io.errors import IsotropeError, nearest
from isotrope.parts import PathText
from isotrope.views.text.base import Outcome, TextViewSpec
from isotrope.views.text.engines.translators import TRANSLATORS, Translator
from isotrope.views.text.language import is_wrong_language, language_check

BLANKS = re.compile(r"[\s\x00-\x1f\x7f]+")
FOR_TRANSFORMERS = ("model", "beam", "sampling", "temperature", "max_length", "device", "precision")


class BackTranslationSpec(TextViewSpec):
    """Wordings by way of the language `pivot`.

    `engine` is bergamot (offline, en-pt), apertium (a program with its language pairs) or transformers (models of the
    Hub, or folders); `auto` takes the first of them that can do it here.
    """

    kind: str = "back-translation"
    pivot: str = "pt"
    engine: str = "auto"
    source: str = "en"
    # for the engine transformers only
    model: PathText | None = None  # name or folder, with {src} and {tgt} for the languages
    beam: int | None = Field(default=None, ge=1)  # 5; paper 1 has 100
    sampling: bool = False  # draws words, in place of beam search
    temperature: float | None = Field(default=None, gt=0)  # of sampling
    max_length: int | None = Field(default=None, ge=1)  # in tokens
    device: str | None = None
    precision: Literal["float32", "bfloat16", "float16"] | None = None
    seed: int = 1  # of sampling

    @field_validator("engine")
    @classmethod
    def _is_known(cls, engine: str) -> str:
        if engine not in ("auto", *TRANSLATORS):
            close, known = nearest(engine, TRANSLATORS), ", ".join(TRANSLATORS)
            raise PydanticCustomError("engine", f"unknown engine '{engine}'{close}; choose auto, {known}")
        return engine

    @model_validator(mode="after")
    def _fits_together(self) -> BackTranslationSpec:
        for_transformers = list(self.for_transformers)
        if self.pivot == self.source:
            raise PydanticCustomError("pivot", f"the pivot '{self.pivot}' is the language of the sentences")
        if self.sampling and self.beam is not None:
            raise PydanticCustomError("beam", "beam search and sampling can't be used together; leave out one of them")
        if self.temperature is not None and not self.sampling:
            raise PydanticCustomError("temperature", "a temperature is for sampling; set sampling too")
        if for_transformers and self.engine not in ("auto", "transformers"):
            raise PydanticCustomError(
                "engine", f"engine '{self.engine}' has no {for_transformers[0]}; choose the engine transformers"
            )
        return self

    @property
    def for_transformers(self) -> dict[str, Any]:
        """The settings that were given and that only transformers has."""
        return {name: value for name in FOR_TRANSFORMERS if (value := getattr(self, name)) not in (None, False)}

    def make(self) -> BackTranslation:
        """Finds the engine, so that whatever is missing is said at once."""
        names = ("transformers",) if self.for_transformers else tuple(TRANSLATORS)
        lacking = []
        for name in names if self.engine == "auto" else (self.engine,):
            engine = TRANSLATORS[name]({**self.for_transformers, "seed": self.seed})
            lack = engine.lacks(self.source, self.pivot) or engine.lacks(self.pivot, self.source)
            if not lack:
                return BackTranslation(self, engine)
            lacking.append(lack)
        if len(lacking) == 1:
            raise IsotropeError(lacking[0])
        raise IsotropeError(f"nothing here translates {self.source}-{self.pivot} and back: {'; '.join(lacking)}")


class BackTranslation:
    """Each sentence to the pivot language and back, by one engine."""

    def __init__(self, spec: BackTranslationSpec, engine: Translator) -> None:
        self.spec, self.source, self.pivot, self._engine = spec, spec.source, spec.pivot, engine

    @cached_property
    def parameters(self) -> dict[str, Any]:
        """Everything that decides what comes out. `seed` is null where chance has no part in it."""
        return {
            "kind": "back-translation",
            "engine": self._engine.name,
            "source": self.source,
            "pivot": self.pivot,
            "there": self._engine.parameters(self.source, self.pivot),
            "back": self._engine.parameters(self.pivot, self.source),
            "language check": language_check(),
            "seed": self.spec.seed if self.spec.sampling else None,
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
