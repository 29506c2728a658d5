from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isotrope.evaluation.label_free.related_texts import LONG, WORD, halve, halves, read_rewordings
from isotrope.io.errors import IsotropeError
from isotrope.text import bundled_sentences

CUTS = {
    "One two three four five six seven eight.": ("One two three four", "five six seven eight."),
    "When it rains in the hills, the river rises fast.": ("When it rains in the hills", "the river rises fast."),
    "No, a cut there would be far too early today": ("No, a cut there would", "be far too early today"),
    "He came by train (alone) and left; all went well": ("He came by train (alone) and left", "all went well"),
    "我们昨天去了北京\uff0c今天回到上海": ("我们昨天去了北京", "今天回到上海"),
}


@pytest.mark.parametrize("sentence", CUTS)
def test_a_sentence_is_cut_at_the_clause_boundary_nearest_to_its_middle_or_in_the_middle(sentence: str) -> None:
    assert halve(sentence) == CUTS[sentence]


def test_a_short_sentence_has_no_halves() -> None:
    assert halve("One two three four five six seven.") is None
    assert halves(["Short.", "One two three four five six seven eight."]).first == ["One two three four"]


@given(st.sampled_from(bundled_sentences()))
def test_halves_hold_all_words_and_are_both_a_quarter_at_least(sentence: str) -> None:
    parts = halve(sentence)
    words = WORD.findall(sentence)
    assert (parts is None) == (len(words) < LONG)
    if parts:
        assert sentence.startswith(parts[0])
        assert sentence.endswith(parts[1])
        assert min(len(WORD.findall(part)) for part in parts) >= len(words) // 4
        assert len(sentence) - len(parts[0] + parts[1]) <= 3  # a mark and a blank


def test_rewordings_are_read_from_a_table_without_those_that_say_the_same(tmp_path: Path) -> None:
    table = tmp_path / "views.csv"
    table.write_text("text,view1\nA dog runs.,A hound runs.\nA cat.,a  cat!\nA cow.,\nA hen.,One hen.\n")
    found = read_rewordings(table, 100)
    assert sorted(zip(found.first, found.second, strict=True)) == [
        ("A dog runs.", "A hound runs."),
        ("A hen.", "One hen."),
    ]
    assert len(read_rewordings(table, 1)) == 1
    table.write_text("text,view1\nA cat.,a cat\n")
    with pytest.raises(IsotropeError, match="no row whose view1 is another wording"):
        read_rewordings(table, 100)
    table.write_text("text\nA cat.\n")
    with pytest.raises(IsotropeError, match="no column 'view1'"):
        read_rewordings(table, 100)
