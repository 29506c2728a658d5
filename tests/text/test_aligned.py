"""Translations out of tables that are parallel row by row."""

from __future__ import annotations

from pathlib import Path

import pytest

from isotrope.io.errors import IsotropeError
from isotrope.text.aligned import aligned_pairs

ENGLISH = [{"id": 1, "a": "One.", "b": "Two."}, {"id": 2, "a": "One.", "b": "Three."}, {"id": 3, "a": "Four.", "b": ""}]
GERMAN = [{"id": 2, "a": "Eins.", "b": "Drei."}, {"id": 1, "a": "Eins.", "b": "Zwei."}, {"id": 9, "a": "x", "b": "y"}]
FRENCH = [{"id": 1, "a": "Un.", "b": None}]


def test_those_of_one_text_stand_behind_each_other_and_none_comes_twice() -> None:
    made = aligned_pairs(ENGLISH, [GERMAN, FRENCH], on=["id"], columns=["a", "b"])
    assert [tuple(row.values()) for row in made] == [
        ("One.", "Eins."),
        ("One.", "Un."),
        ("Two.", "Zwei."),
        ("Three.", "Drei."),
    ]


def test_rows_that_can_not_be_told_apart_or_do_not_meet_are_refused(tmp_path: Path) -> None:
    for first, message in (
        ([*ENGLISH, {"id": 1, "a": "x", "b": "y"}], "row 4: id 1 was there before; name more columns with on="),
        ([{"id": 7, "a": "x", "b": "y"}], "no row has a translation: none agree in id"),
    ):
        with pytest.raises(IsotropeError, match=message):
            aligned_pairs(first, [GERMAN], tmp_path / "pairs.tsv", on=["id"], columns=["a", "b"])
    assert not (tmp_path / "pairs.tsv").exists()


def test_xnli_gives_five_pairs_of_a_sentence(shared_data: Path) -> None:
    """As paper 3 has it: EN-AR/ES/TR/DE/FR."""
    tables = [shared_data / "xnli" / f"xnli_{language}.tsv.gz" for language in ("en", "ar", "es", "tr", "de", "fr")]
    made = aligned_pairs(tables[0], tables[1:], on=["split", "index"], columns=["premise", "hypothesis"])
    rows = list(made)
    assert len(rows) > 5 * 9000
    assert len({row["source"] for row in rows[:5]}) == 1
    assert len({row["target"] for row in rows[:5]}) == 5
