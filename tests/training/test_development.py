"""A file of scored pairs: mistakes name it, what was read is said, and 0 and 1 are measured as `evaluate` does."""

from __future__ import annotations

import math
import re
from itertools import combinations
from pathlib import Path

import numpy as np
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
    said = f"{file}: 60 graded pairs, 1 row without text or score left out; all scores are 0 or 1: Spearman's"
    assert said in capfd.readouterr().err
    with told_already():  # by a tuning, whose trials read it again
        development_pairs(str(file), None)
    assert capfd.readouterr().err == ""
    encoder = isotrope.load("bundled", device="cpu")
    results = isotrope.evaluate({"x": encoder}, tasks=[], pairs=file, cache=False)
    (entry,) = results.as_dict()["results"]
    assert entry["tasks"]["dev"]["spearman"]["all"] == pytest.approx(score_by(pairs)(encoder)["spearman"], abs=0.01)
    assert {"Average precision x 100", "Spearman x 100"} <= set(re.findall(r".* x 100", str(results)))
    assert "all scores are 0 or 1, so average precision" in str(results)


def test_pairs_above_four_fifths_of_the_grades_are_those_that_should_lie_together() -> None:
    pairs = development_pairs("bundled", None)
    encoder = isotrope.load("bundled", device="cpu", pooling="mean")
    found = score_by(pairs)(encoder)
    unit = {text: vector / np.linalg.norm(vector) for text in pairs.sentences for vector in [encoder.encode(text)]}
    graded = list(zip(pairs.sentences1, pairs.sentences2, pairs.scores, strict=True))
    low, high = min(pairs.scores), max(pairs.scores)
    apart = [((unit[a] - unit[b]) ** 2).sum() for a, b, grade in graded if grade - low > 0.8 * (high - low)]
    assert 0 < len(apart) < len(graded)
    assert found["pairs_alignment"] == pytest.approx(np.mean(apart), abs=1e-5)
    spread = [math.exp(-2 * ((a - b) ** 2).sum()) for a, b in combinations(unit.values(), 2)]
    assert found["pairs_uniformity"] == pytest.approx(math.log(np.mean(spread)), abs=1e-4)
