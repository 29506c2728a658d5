from __future__ import annotations

from pathlib import Path

import pytest

from isotrope.evaluation import seen
from isotrope.evaluation.seen import count_seen
from isotrope.text.corpus import build_corpus

TEXT = ["A cat.", "A dog.", "Ünïcode.", "A cat.", "A bird."]


def test_sentences_are_found_in_every_column_of_every_corpus(tmp_path: Path) -> None:
    build_corpus([TEXT], ("text",), tmp_path / "a")
    build_corpus([[{"view1": "One.", "view2": "  Two. "}]], ("view1", "view2"), tmp_path / "b")
    assert count_seen(["A cat.", "A cat.", "Ünïcode.", "a cat.", "Rain."], [tmp_path / "a"]) == 2
    assert count_seen(["One.", "Two.", "A cat."], [tmp_path / "b"]) == 2
    assert count_seen(["One.", "Two.", "A cat."], [tmp_path / "a", tmp_path / "b"]) == 3
    assert count_seen(["One."], []) == 0


def test_a_corpus_is_read_a_part_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build_corpus([TEXT], ("text",), tmp_path / "a")
    monkeypatch.setattr(seen, "ROWS_AT_ONCE", 2)
    assert count_seen(TEXT, [tmp_path / "a"]) == 4
