"""ESimCSE's word repetition, beside its definition."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from types import SimpleNamespace
from typing import Any

from isotrope.views.drawn import Chance

from .naive import draw_of

READER: Any = SimpleNamespace(tokenizer=SimpleNamespace(all_special_ids=[0, 1, 2]), max_seq_length=64)


def repeated(rate: float, ids: list[int], count: int, reader: Any = READER) -> list[list[int]]:
    draw = draw_of("word-repetition", rate=rate)
    return [draw.tokens(ids, reader, Chance.of(batch, 3, "second")) for batch in range(count)]


def test_sub_words_are_written_twice_in_place() -> None:
    ids = [1, *range(10, 35), 2]  # 25 sub-words between two specials
    found = repeated(0.32, ids, 900)
    assert all([token for token, _ in groupby(one)] == ids for one in found)
    assert all(max(Counter(one).values()) <= 2 for one in found)
    assert all(Counter(one)[special] == 1 for one in found for special in (1, 2))
    added = Counter(len(one) - len(ids) for one in found)
    assert set(added) == set(range(int(0.32 * 25) + 1))  # 0 ... max(2, int(dup_rate N)), each alike
    assert all(60 < count < 150 for count in added.values())
    places = Counter(token for one in found for token, times in Counter(one).items() if times == 2)
    assert set(places) == set(range(10, 35))


def test_short_sentences_have_up_to_two_more() -> None:
    assert {len(one) for one in repeated(0.32, [1, 10, 11, 12, 2], 200)} == {5, 6, 7}
    assert {len(one) for one in repeated(0.32, [1, 10, 2], 200)} == {3, 4}
    assert repeated(0.32, [1, 2], 5) == [[1, 2]] * 5


def test_the_encoders_length_is_kept() -> None:
    reader = SimpleNamespace(tokenizer=READER.tokenizer, max_seq_length=28)
    assert {len(one) for one in repeated(1.0, [1, *range(10, 35), 2], 100, reader)} == {27, 28}
