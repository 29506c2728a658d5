"""The texts that rows learn from: how many there are, and draws of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from isotrope.evaluation.data.places import MissingDataError
from isotrope.papers.texts import FIVE, MIXED, Texts
from isotrope.text import read_table

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


def xnli(data: Path, languages: tuple[str, ...]) -> None:
    """Each sentence begins with its language; the rows of every other table are the other way round."""
    for number, language in enumerate(languages):
        rows = [f"{split}\t{k}\t{language} p {split} {k}\t{language} h {split} {k}" for split in "ab" for k in range(6)]
        header = "split\tindex\tpremise\thypothesis"
        write(data / "xnli" / f"xnli_{language}.tsv", header, rows[:: -1 if number % 2 else 1])


def test_every_english_sentence_has_its_translation_in_five_languages_and_none_in_chinese(tmp_path: Path) -> None:
    data = tmp_path / "data"
    xnli(data, ("en", "zh", *FIVE))
    (file,) = Texts(tmp_path / "texts", data).files("xnli-five")
    found: dict[str, list[str]] = {}
    for row in read_table(file, ("source", "target")):
        found.setdefault(row["source"].removeprefix("en "), []).append(row["target"])
    assert len(found) == 24
    for sentence, targets in found.items():
        assert targets == [f"{language} {sentence}" for language in ("ar", "es", "tr", "de", "fr")]


def test_a_language_that_is_absent_is_named(tmp_path: Path) -> None:
    data = tmp_path / "data"
    xnli(data, ("en", *FIVE[:-1]))
    with pytest.raises(MissingDataError, match=r"xnli-five: no xnli/xnli_fr\.tsv"):
        Texts(tmp_path / "texts", data).files("xnli-five")
    for name in ("nli-zh-triplets", "translations-zh"):
        with pytest.raises(MissingDataError, match="in a data folder"):
            Texts(tmp_path / "texts", data).files(name)


def test_translations_go_either_way(tmp_path: Path) -> None:
    data = tmp_path / "data"
    write(data / "parallel" / "mine_en_zh.tsv", "en\tzh", ["Hi.\t嗨。"])
    texts = Texts(tmp_path / "texts", data)
    for name, row in (("translations", ("嗨。", "Hi.")), ("translations-zh", ("Hi.", "嗨。"))):
        (file,) = texts.files(name)
        assert [(one["source"], one["target"]) for one in read_table(file)] == [row]


def test_chinese_triplets(tmp_path: Path) -> None:
    data = tmp_path / "data"
    rows = ["dev\tentailment\t狗跑。\t动物跑。", "dev\tcontradiction\t狗跑。\t狗睡。", "dev\tneutral\t狗跑。\t狗叫。"]
    write(data / "zh" / "cnsd_snli_dev_test.tsv", "split\tlabel\tpremise\thypothesis", rows)
    (file,) = Texts(tmp_path / "texts", data).files("nli-zh-triplets")
    assert list(read_table(file)) == [{"anchor": "狗跑。", "positive": "动物跑。", "negative": "狗睡。"}]
