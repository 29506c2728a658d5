from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isotrope.io.errors import IsotropeError
from isotrope.text import bundled_sentences
from isotrope.views.text.back_translation import BackTranslationSpec
from isotrope.views.text.engines import apertium
from isotrope.views.text.engines.apertium import Apertium, _escaped, _unescaped

needs_spanish = pytest.mark.skipif(
    shutil.which("apertium") is None or bool(Apertium().lacks("en", "es")),
    reason="apt install apertium apertium-eng-spa",
)
needs_catalan = pytest.mark.skipif(
    shutil.which("apertium") is None or bool(Apertium().lacks("en", "ca")),
    reason="apt install apertium apertium-eng-cat",
)
BREAKS_CATALAN = "Grandad's operation went well and he is already complaining about the food."


@needs_spanish
def test_each_sentence_has_its_own_translation(sentences: list[str]) -> None:
    engine = Apertium()
    together = engine.translate(sentences, "en", "es")
    assert together[0] == "Unas carreras de perro en el parque."
    assert together[:3] == [engine.translate([sentence], "en", "es")[0] for sentence in sentences[:3]]
    assert len(set(together)) == len(sentences)


@needs_spanish
def test_the_order_hardly_matters_and_the_same_order_never() -> None:
    some = bundled_sentences()[:300]
    shuffled = random.Random(1).sample(some, len(some))
    view = BackTranslationSpec(pivot="es", engine="apertium").make()
    found, again = dict(zip(some, view(some), strict=True)), dict(zip(shuffled, view(shuffled), strict=True))
    assert view(some) == list(found.values())
    assert sum(found[text] != again[text] for text in some) <= 3
    assert 100 < sum(map(bool, found.values())) < 250


@needs_spanish
@pytest.mark.parametrize(
    "sentence",
    [
        "A [dog] runs {fast}.",
        "He paid $5 / $6 ^ today.",
        "A <b>house</b> \\ a tree.",
        "Cats ~ dogs.",
        "The house [0]",
        "One. Two. Three.",
        '"The house"',
        "\u201cThe house\u201d \u2014 it\u2019s big\u2026",
        "猫が好きです",
        "😀 house",
        "12,345.67 %",
        "...",
    ],
)
def test_signs_of_the_stream_format_are_text(sentence: str) -> None:
    before, found, after = Apertium().translate(["The house.", sentence, "The tree."], "en", "es")
    assert (before, after) == ("La casa.", "El árbol.")
    for sign in "[]{}^$/\\<>~%":
        assert found.count(sign) == sentence.count(sign)


@given(st.text(st.characters(exclude_categories=["Cs", "Cc", "Zs", "Zl", "Zp"])))
def test_escaping_is_undone(text: str) -> None:
    assert _unescaped(_escaped(text)) == text


@needs_spanish
@settings(max_examples=4, deadline=None)
@given(st.lists(st.text("ab .,[]{}^$/\\@<>*#~&|+_-\"'¿ñ", max_size=12).map(lambda text: f"house {text}"), min_size=1))
def test_any_text_gives_one_answer_each(texts: list[str]) -> None:
    assert len(Apertium().translate(texts, "en", "es")) == len(texts)


@needs_catalan
def test_a_sentence_that_breaks_the_program_is_passed_over(
    sentences: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = Apertium()
    alone = engine.translate(sentences, "en", "ca")
    assert all(alone)
    monkeypatch.setattr(apertium, "PART", 4)
    mixed = [*sentences[:2], BREAKS_CATALAN, *sentences[2:], BREAKS_CATALAN]
    found = engine.translate(mixed, "en", "ca")
    assert [text for text, sentence in zip(found, mixed, strict=True) if sentence != BREAKS_CATALAN] == alone


@pytest.mark.parametrize(
    ("sentence", "translation", "flaw"),
    [
        ("A frisbee.", "Un *frisbee.", "unknown words"),
        ("It rocks.", "#mecer", "unknown words"),
        ("At home.", "@home", "unknown words"),
        ("At @home.", "@home", ""),
        ("At @home in #Rome.", "@home en *Rome", ""),
        ("2 * 3", "2 * 3", ""),
        ("A house.", "Una casa.", ""),
    ],
)
def test_marks_that_were_not_in_the_sentence_are_unknown_words(sentence: str, translation: str, flaw: str) -> None:
    assert Apertium().flaw(sentence, translation) == flaw


@needs_spanish
def test_views_with_marks_are_dropped() -> None:
    view = BackTranslationSpec(pivot="es", engine="apertium").make()
    outcomes = view.outcomes(["The cat sleeps.", "A toddler sleeps."])
    assert outcomes[0].wording
    assert (outcomes[1].wording, outcomes[1].flaw) == ("", "unknown words")


@needs_spanish
def test_a_pair_that_is_not_there_says_what_to_install() -> None:
    with pytest.raises(IsotropeError, match=r"apertium lacks the pair en-de: apt install apertium-eng-deu"):
        BackTranslationSpec(pivot="de", engine="apertium").make()


def test_without_the_program_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(IsotropeError, match=r"^apertium is not installed: apt install apertium apertium-eng-spa$"):
        BackTranslationSpec(pivot="es", engine="apertium").make()


def test_a_program_that_fails_is_told_in_its_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "apertium"
    script.write_text('#!/bin/sh\n[ "$1" = -l ] && echo eng-spa spa-eng && exit 0\necho Install a locale; exit 1\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    with pytest.raises(IsotropeError, match=r"^apertium -z -f none eng-spa failed: Install a locale$"):
        Apertium().translate(["A house."], "en", "es")
