"""Crops: whole sentences, drawn anew, within the sizes that were asked for."""

from __future__ import annotations

import pytest

from isotrope.io.errors import IsotropeError
from isotrope.text.sentences import split_sentences
from isotrope.views.drawn.words import words_of

from .naive import draw_of, drawn

DOCUMENT = " ".join(f"Sentence number {k} is here." for k in range(20))
SENTENCES = split_sentences(DOCUMENT)
SENTENCE = "one two three four five six seven eight nine ten"


def test_sentences_stay_whole_and_spans_unbroken() -> None:
    found = drawn(draw_of("crop"), DOCUMENT, 400)
    assert len(set(found)) > 60  # of the 155 that there are
    sizes = {len(split_sentences(crop)) for crop in found}
    assert sizes == set(range(1, 11))  # 5% to 50%
    assert all(crop in DOCUMENT for crop in found)
    assert all(set(split_sentences(crop)) <= set(SENTENCES) for crop in found)


def test_a_number_of_sentences() -> None:
    for size in (1, 2, 5):
        found = drawn(draw_of("crop", size=size), DOCUMENT, 200)
        assert {len(split_sentences(crop)) for crop in found} == {size}
        assert len(set(found)) == 21 - size  # every place is drawn
    assert set(drawn(draw_of("crop", size=5), "One. Two. Three.", 50)) == {"One. Two.", "Two. Three."}


def test_a_single_sentence_gives_words() -> None:
    found = drawn(draw_of("crop", words=[0.2, 0.5]), SENTENCE, 300)
    assert all(f" {crop} " in f" {SENTENCE} " for crop in found)
    assert {len(crop.split()) for crop in found} == {2, 3, 4, 5}
    assert set(drawn(draw_of("crop"), "word", 20)) == {"word"}
    assert words_of("日本語") == (["日", "本", "語"], "")
    assert all(crop in "日本語の文" for crop in drawn(draw_of("crop"), "日本語の文", 20))


def test_two_crops_of_a_text_need_not_overlap() -> None:
    first, second = (drawn(draw_of("crop", view, overlap=False), DOCUMENT, 300, view) for view in ("first", "second"))
    order = [DOCUMENT.index(a) < DOCUMENT.index(b) for a, b in zip(first, second, strict=True)]
    assert 100 < sum(order) < 200  # either may be the former
    for a, b in zip(first, second, strict=True):
        assert not set(split_sentences(a)) & set(split_sentences(b))
    one, other = (drawn(draw_of("crop", view, overlap=False), SENTENCE, 99, view) for view in ("first", "second"))
    assert all(not set(a.split()) & set(b.split()) for a, b in zip(one, other, strict=True))
    apart = (drawn(draw_of("crop", view), DOCUMENT, 300, view) for view in ("first", "second"))
    assert any(set(split_sentences(a)) & set(split_sentences(b)) for a, b in zip(*apart, strict=True))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"size": [0.5, 0.1]}, "size is the least and the largest share"),
        ({"size": [1.0, 1.0]}, "would always be the whole text"),
        ({"words": [1.0, 1.0]}, "would always be the whole text"),
        ({"size": 0}, "greater than or equal to 1"),
        ({"words": [0, 0.5]}, "greater than 0"),
    ],
)
def test_sizes_that_mean_nothing(settings: dict[str, object], message: str) -> None:
    with pytest.raises(IsotropeError, match=message):
        draw_of("crop", **settings)
