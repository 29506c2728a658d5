from __future__ import annotations

from pathlib import Path

import pytest

from isotrope.evaluation import provenance
from isotrope.evaluation.provenance import count_trained_on
from isotrope.text.corpus import build_corpus

TEXT = ["A cat.", "A dog.", "Ünïcode.", "A cat.", "A bird."]


def test_sentences_are_found_in_every_column_of_every_corpus(tmp_path: Path) -> None:
    build_corpus([TEXT], ("text",), tmp_path / "a")
    build_corpus([[{"view1": "One.", "view2": "  Two. "}]], ("view1", "view2"), tmp_path / "b")
    assert count_trained_on(["A cat.", "A cat.", "Ünïcode.", "a cat.", "Rain."], [tmp_path / "a"]) == 2
    assert count_trained_on(["One.", "Two.", "A cat."], [tmp_path / "b"]) == 2
    assert count_trained_on(["One.", "Two.", "A cat."], [tmp_path / "a", tmp_path / "b"]) == 3
    assert count_trained_on(["One."], []) == 0


def test_a_corpus_is_read_a_part_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build_corpus([TEXT], ("text",), tmp_path / "a")
    monkeypatch.setattr(provenance, "ROWS_AT_ONCE", 2)
    assert count_trained_on(TEXT, [tmp_path / "a"]) == 4
