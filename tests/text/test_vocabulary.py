"""A vocabulary that is learnt: the same from the same text, and of the text's own characters."""

from __future__ import annotations

from isotrope.text import bundled_sentences
from isotrope.text.vocabulary import SPECIALS, train_wordpiece

TEXT = [*bundled_sentences(), "Caf\u00e9 \u4f60\u597d, na\u00efve r\u00e9sum\u00e9s!"]


def test_the_same_text_gives_the_same_vocabulary() -> None:
    """Many pairs of pieces are equally frequent in so little text; which came first used to depend on the process."""
    first, *others = ([*train_wordpiece(lambda: TEXT, 1000).get_vocab().items()] for _ in range(8))
    assert all(sorted(other) == sorted(first) for other in others)
    assert len(first) == 1000


def test_pieces_are_of_characters_as_they_are_read() -> None:
    pieces = train_wordpiece(lambda: TEXT, 1000).get_vocab()
    assert set(SPECIALS) < set(pieces)
    assert {"e", "##e", "\u4f60", ",", "!"} <= set(pieces)
    accents, words_of_their_own = {"\u00e9", "##\u00e9", "C"}, {"##,", "##!", "##\u4f60"}
    assert not (accents | words_of_their_own) & set(pieces)
    assert "[UNK]" not in train_wordpiece(lambda: TEXT, 1000).tokenize(TEXT[-1])


def test_of_too_many_characters_the_most_frequent_are_kept() -> None:
    rare = [chr(0x4E00 + k) for k in range(1200)]
    pieces = train_wordpiece(lambda: ["a dog barks " * 3, *rare, *rare[100:]], 1500).get_vocab()
    assert {"a", "##o", rare[100]} <= set(pieces)
    assert not set(rare[:100]) & set(pieces)
