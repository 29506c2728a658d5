from __future__ import annotations

import pytest

from isotrope.text.sentences import split_sentences


def test_abbreviations_numbers_and_quotations_end_no_sentence() -> None:
    text = 'It costs 3.50 euros (see Fig. 2). "Too much. Far too much." he said. We left, i.e. we ran!'
    assert split_sentences(text) == [
        "It costs 3.50 euros (see Fig. 2).",
        '"Too much. Far too much." he said.',
        "We left, i.e. we ran!",
    ]


def test_lines_of_one_sentence_are_joined_and_paragraphs_are_not() -> None:
    assert split_sentences("A sentence\nin two  lines. Another.\n\nA heading\n\nThe last one") == [
        "A sentence in two lines.",
        "Another.",
        "A heading",
        "The last one",
    ]


@pytest.mark.parametrize(
    "sentences",
    [
        ["今天天气很好。", "我们去公园吧！", "你觉得呢？"],  # noqa: RUF001
        ["من أين أنت؟", "أنا من هنا."],
        ["यह किताब है।", "वह घर जाता है।"],
        ["Что это?", "Это дом."],
        ["Πού είσαι;", "Είμαι εδώ."],  # a Greek question ends with a semicolon
        ["Սա գիրք է:", "Նա տանն է:"],  # noqa: RUF001 (an Armenian sentence ends with what looks like a colon)
    ],
)
def test_other_languages_without_being_told(sentences: list[str]) -> None:
    between = "" if sentences[0].startswith("今") else " "
    assert split_sentences(between.join(sentences)) == sentences


def test_the_language_can_be_given() -> None:
    text = "Das gilt z. B. für Prof. Meier. Und für uns."
    assert split_sentences(text, "de")[-1] == "Und für uns."
    assert split_sentences("Where; there. Here.", "el") == ["Where;", "there.", "Here."]


def test_nothing_in_it() -> None:
    assert split_sentences("") == split_sentences(" \n\n\t ") == []
