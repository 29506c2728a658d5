from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from typing import Any

import pytest

from isotrope.text import bundled_sentences
from isotrope.views.text import language
from isotrope.views.text.language import COMMONEST, is_wrong_language, language_check

PORTUGUESE = [
    "Um homem está tocando uma guitarra na praia com os amigos.",
    "A menina não quer ir para a escola, mas o irmão dela vai.",
    "O gato dorme em cima do computador que foi do meu pai.",
]
SPANISH = [
    "Un hombre está tocando la guitarra en la playa con los amigos.",
    "La niña no quiere ir a la escuela, pero su hermano va.",
    "El gato duerme encima del ordenador que fue de mi padre.",
]


@pytest.fixture(params=["built-in", "py3langid"])
def check(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    if request.param == "py3langid":
        pytest.importorskip("py3langid", reason="pip install 'py3langid>=0.4'")
    monkeypatch.setattr(language, "language_check", lambda: request.param)
    language._identifier.cache_clear()
    yield request.param
    language._identifier.cache_clear()


@pytest.mark.parametrize("pivot", ["pt", "es", "ca", "fr", "de"])
def test_english_is_let_through(check: str, pivot: str) -> None:
    refused = [text for text in bundled_sentences() if is_wrong_language(text, text, "en", pivot)]
    assert len(refused) <= 5, refused  # of 1,734


def test_the_pivot_is_refused(check: str) -> None:
    for pivot, sentences in (("pt", PORTUGUESE), ("es", SPANISH)):
        for text in sentences:
            assert is_wrong_language(text, "A sentence.", "en", pivot)
            assert not is_wrong_language(text, text, pivot, "en")


def test_another_script_is_refused(check: str) -> None:
    assert is_wrong_language("Собака бежит по парку.", "A dog runs.", "en", "ru")
    assert is_wrong_language("- - -", "A dog runs.", "en", "pt")
    assert not is_wrong_language("12.5", "12.5", "en", "pt")
    assert not is_wrong_language("犬が公園を走る。", "犬が走る。", "ja", "en")
    assert is_wrong_language("A dog runs.", "犬が走る。", "ja", "en")


def test_languages_without_a_list_are_not_judged_by_words(check: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not is_wrong_language("A dog is running in the park.", "A dog runs.", "en", "xx")


def test_a_word_that_both_have_speaks_for_neither(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(language, "language_check", lambda: "built-in")
    assert {"a", "as", "no", "do"} <= set(COMMONEST["pt"].split()) & set(COMMONEST["en"].split())
    assert not is_wrong_language("No, do as a", "No.", "en", "pt")


def test_what_was_used_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def found(name: str) -> Any:
        return object()

    monkeypatch.setattr(importlib.util, "find_spec", found)
    assert language_check() == "py3langid"
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert language_check() == "built-in"
