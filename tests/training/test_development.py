"""A file of scored pairs: mistakes name it, what was read is said, and 0 and 1 are measured as `evaluate` does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import isotrope
from isotrope.io.errors import IsotropeError
from isotrope.text import bundled_pairs_path, read_table
from isotrope.training.development import development_pairs, score_by
from isotrope.training.stage_text import told_already

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
        development_pairs(str(tmp_path / "dev.csv"), None)


def test_0_and_1_are_ranked_as_evaluate_ranks_them(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    rows = list(read_table(bundled_pairs_path()))[:60]
    lines = [f"{int(float(row['score']) > 2.5)}\t{row['sentence1']}\t{row['sentence2']}" for row in rows]
    file = tmp_path / "dev.tsv"
    file.write_text("\n".join(["score\tsentence1\tsentence2", *lines, "\tno score\there"]) + "\n")
    pairs = development_pairs(str(file), None)
    said = f"{file}: 60 graded pairs, 1 row without text or score left out; only 0 and 1 among them: Spearman's"
    assert said in capfd.readouterr().err
    with told_already():  # by a tuning, whose trials read it again
        development_pairs(str(file), None)
    assert capfd.readouterr().err == ""
    encoder = isotrope.load("bundled", device="cpu")
    results = isotrope.evaluate({"x": encoder}, tasks=[], pairs=file, cache=False)
    (entry,) = results.as_dict()["results"]
    assert entry["tasks"]["dev"]["spearman"]["all"] == pytest.approx(score_by(pairs)(encoder), abs=0.01)
    assert {"Average precision x 100", "Spearman x 100"} <= set(re.findall(r".* x 100", str(results)))
    assert "only 0 and 1 among the scores, so average precision" in str(results)
