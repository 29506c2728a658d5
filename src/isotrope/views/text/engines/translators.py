"""The translators by name, and what one of them is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from isotrope.views.text.engines.apertium import Apertium
from isotrope.views.text.engines.bergamot import Bergamot
from isotrope.views.text.engines.transformers import Transformers


class Translator(Protocol):
    """A translator. Languages are two letters (`en`), or whatever code its model has."""

    @property
    def name(self) -> str:
        """As one asks for it."""

    def lacks(self, source: str, target: str) -> str:
        """What is missing here to translate, and how to get it; "" if nothing is."""

    def parameters(self, source: str, target: str) -> dict[str, Any]:
        """Everything that decides how it translates, fit for JSON."""

    def translate(self, sentences: Sequence[str], source: str, target: str) -> list[str]:
        """One translation for each sentence, "" where it has none."""

    def flaw(self, sentence: str, translation: str) -> str:
        """What the engine itself shows to be wrong with a translation; "" if nothing."""


# each made of the settings that it has, in the order in which `auto` tries them
TRANSLATORS: dict[str, Callable[[dict[str, Any]], Translator]] = {
    "bergamot": lambda settings: Bergamot(),
    "apertium": lambda settings: Apertium(),
    "transformers": lambda settings: Transformers(**settings),
}
