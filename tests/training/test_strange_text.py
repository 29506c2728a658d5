"""What is said of text that an encoder's vocabulary was not made for."""

from __future__ import annotations

import pytest

import isotrope
from isotrope.text import bundled_sentences
from isotrope.text.survey import Survey
from isotrope.training.strange_text import strange_text

ENGLISH = bundled_sentences()[:20]
RUSSIAN = [
    "Съешь же ещё этих мягких французских булок, да выпей чаю.",
    "Мой заказ пришёл поздно, и коробка была сломана.",
]
CHINESE = ["今天天气很好,我们去公园吧。", "我要退货,因为盒子坏了。", "他昨天去了北京。"]
GERMAN = [
    "Mein Drucker funktioniert seit gestern nicht mehr, bitte helfen Sie mir.",
    "Das Paket kam verspätet an, und die Verpackung war beschädigt.",
]


def said(texts: list[str]) -> str:
    survey = Survey()
    list(survey.rows_of([{"text": text} for text in texts], ("text",)))
    return " ".join(strange_text(survey, isotrope.load("bundled")))


def test_of_text_that_is_read_well_nothing_is_said() -> None:
    assert not said(ENGLISH)
    assert not said([""])


@pytest.mark.parametrize(("language", "texts"), [("ru", RUSSIAN), ("zh", CHINESE), ("de", GERMAN)])
def test_text_in_another_language_wants_an_encoder_for_it(language: str, texts: list[str]) -> None:
    pytest.importorskip("py3langid")
    line = said(texts * 5)
    assert line.startswith("Warning: bundled splits each word of this text into")
    assert line.endswith(f"an encoder for the language '{language}' may suit it better")


def test_text_that_another_encoder_reads_is_not_looked_at() -> None:
    survey = Survey()
    rows = [{"target": text, "source": other} for text, other in zip(ENGLISH, RUSSIAN * 10, strict=True)]
    list(survey.rows_of(rows, ("target", "source")))
    student = isotrope.load("bundled")
    recipe = isotrope.recipes.load("parallel")
    assert recipe.stages[0].columns == ("target", "source")
    assert not list(strange_text(survey, student, recipe.stages[0].student_columns))
    assert list(strange_text(survey, student, ("source",)))


def test_text_in_several_languages_wants_a_multilingual_encoder() -> None:
    pytest.importorskip("py3langid")
    assert said(ENGLISH + GERMAN * 10 + CHINESE * 7).endswith("; a multilingual encoder may suit it better")


def test_of_english_with_emoji_these_are_named_and_no_other_encoder() -> None:
    pytest.importorskip("py3langid")
    assert said([f"{text} 😂 😂 🎉" for text in ENGLISH]).endswith(
        "of this text (characters such as 😂 🎉) and can't tell these parts apart"
    )


def test_without_a_language_another_encoder_is_spoken_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("isotrope.text.languages.shared_identifier", lambda: None)
    assert said(RUSSIAN).endswith("; another encoder may suit it better")
    assert "characters such as 😂" in said([f"{text} 😂 😂" for text in ENGLISH])
