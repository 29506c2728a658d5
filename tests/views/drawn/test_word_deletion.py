"""TSDAE's damage: each word is left out by its own chance, and one is always left."""

from __future__ import annotations

from collections import Counter

from .naive import draw_of, drawn

SENTENCE = "one two three four five six seven eight nine ten"


def test_words_are_deleted_in_place() -> None:
    found = drawn(draw_of("word-deletion"), SENTENCE, 1000)
    words = SENTENCE.split()
    for text in found:
        places = [words.index(word) for word in text.split()]
        assert places == sorted(places)
        assert places
    counts = Counter(word for text in found for word in text.split())
    assert all(330 < counts[word] < 470 for word in words)  # 40% each


def test_something_is_left() -> None:
    assert set(drawn(draw_of("word-deletion", rate=0.99), "alone", 30)) == {"alone"}
    assert set(drawn(draw_of("word-deletion", rate=0.999), "this one", 60)) == {"this", "one"}
    assert {len(text) for text in drawn(draw_of("word-deletion", rate=0.5), "日本語の文", 60)} >= {1, 2, 3}
