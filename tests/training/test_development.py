"""Mistakes in a file of scored pairs name the file."""

from __future__ import annotations

from pathlib import Path

import pytest

from isotrope.io.errors import IsotropeError
from isotrope.training.development import development_score

HEADER = "score;sentence1;sentence2\n"


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("3;a;b\n2;c;d\n", "2 pairs; a correlation needs at least 3"),
        ("3;a;b\n" * 4, "every pair has the same gold score, 3"),
        ("good;a;b\n", "row 1: the score 'good' is not a number"),
        (";a;b\n", "no pairs in it"),
    ],
)
def test_the_file_is_named(tmp_path: Path, rows: str, message: str) -> None:
    (tmp_path / "dev.csv").write_text(HEADER + rows)
    with pytest.raises(IsotropeError, match=rf"dev\.csv: {message}"):
        development_score(str(tmp_path / "dev.csv"), None)
