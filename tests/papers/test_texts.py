"""The texts that rows learn from: how many there are, and draws of them."""

from __future__ import annotations

import json
from pathlib import Path

from isotrope.papers.texts import MIXED, Texts

PAIRS = {"sts12": 3108, "sts13": 1500, "sts14": 3750, "sts15": 3000, "sts16": 1186}  # with a grade
SPLITS = {"stsb/stsb": (5749, 1500, 1379), "sick/sick": (4500, 500, 4927)}
UNGRADED = {"sts15": 8500 - 3000, "sts16": 9183 - 1186}


def write(file: Path, header: str, rows: list[str]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join([header, *rows]) + "\n")


def seven_sets(data: Path) -> None:
    """Of the sizes that were given out, with next to nothing in them."""
    for name, count in PAIRS.items():
        rows = [f"s\t1\t{name} {k}\tb {k}" for k in range(count)]
        write(data / "sts" / f"{name}.tsv", "subtask\tscore\tsentence1\tsentence2", rows)
    for name, counts in SPLITS.items():
        sizes = zip(("train", "dev", "test"), counts, strict=True)
        rows = [f"{split}\t1\t{name} {k}\tb {k}" for split, count in sizes for k in range(count)]
        write(data / f"{name}.tsv", "split\tscore\tsentence1\tsentence2", rows)


def test_the_mixed_texts_of_paper_2_are_89_192_or_it_is_said(tmp_path: Path) -> None:
    data = tmp_path / "data"
    seven_sets(data)
    graded = Texts(tmp_path / "graded", data)
    assert graded.count("sts") == 62_198
    (said,) = graded.remarks("sts")
    assert "has 62,198 texts" in said
    assert "mixes 89,192" in said
    for name, count in UNGRADED.items():
        rows = [f"{name} {k}\tc {k}" for k in range(count)]
        write(data / "sts" / f"{name}_ungraded.tsv", "sentence1\tsentence2", rows)
    whole = Texts(tmp_path / "whole", data)
    assert whole.count("sts") == MIXED == 89_192
    assert list(whole.remarks("sts")) == []
    assert list(whole.remarks("stsb")) == []


def test_rows_of_a_table_are_drawn_whole(tmp_path: Path) -> None:
    file = tmp_path / "mine.tsv"
    write(file, "source\ttarget", [f"de {k}\ten {k}" for k in range(20)])
    (drawn,) = Texts(tmp_path / "texts").files(str(file), 5)
    rows = [json.loads(line) for line in drawn.read_text().splitlines()]
    assert len(rows) == 5
    assert all(row["source"].split()[1] == row["target"].split()[1] for row in rows)


def test_another_file_of_the_same_name_is_drawn_anew(tmp_path: Path) -> None:
    texts, drawn = Texts(tmp_path / "texts"), []
    for folder in ("a", "b"):
        file = tmp_path / folder / "mine.txt"
        write(file, f"{folder} 0", [f"{folder} {k}" for k in range(1, 9)])
        drawn += texts.files(str(file), 3)
    assert [one.read_text()[0] for one in drawn] == ["a", "b"]
