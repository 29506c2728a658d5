from __future__ import annotations

import csv
import io
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import pearsonr, spearmanr

from isotrope.evaluation.data.arguments import load_arguments
from isotrope.evaluation.data.pairs import Pairs
from isotrope.evaluation.data.places import MissingDataError
from isotrope.evaluation.tasks.arguments import evaluate_arguments
from isotrope.io.errors import IsotropeError

# score, ids of both sentences, sentences: the columns that the corpus has
AFS_HEADER = "regression_label,datasetId_1,discussionId_1,postId_1,sentence_index_1,"
AFS_HEADER += "datasetId_2,discussionId_2,postId_2,sentence_index_2,sentence_1,sentence_2"


class Letters:
    """Counts letters: an encoder of any make."""

    def encode(self, sentences: list[str], *, batch_size: int = 32) -> NDArray[np.floating[Any]]:
        return np.array([[1 + text.count(letter) for letter in "abcdefgh"] for text in sentences], np.float32)


def write_afs(folder: Path, topic: str, *rows: tuple[str, str, str], encoding: str = "utf-8") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    text = io.StringIO()
    writer = csv.writer(text)
    for score, one, two in rows:
        writer.writerow([score, *range(8), one, two])
    (folder / f"ArgPairs_{topic}.csv").write_bytes((AFS_HEADER + "\r\n" + text.getvalue()).encode(encoding))


def write_aspect(folder: Path, *rows: str, header: str = "topic|label|sentence1|sentence2") -> Path:
    file = folder / "argsim" / "ukp_aspect.tsv"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(row.replace("|", "\t") + "\n" for row in (header, *rows)))
    return file


def test_figures_are_means_of_the_topics(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    rows: dict[str, list[tuple[str, str, str]]] = {}
    for topic, size in (("DP", 12), ("GC", 7), ("GM", 30)):
        texts = ["".join(generator.choice(list("abcdefgh"), 12)) for _ in range(2 * size)]
        scores = generator.integers(0, 26, size) / 5
        rows[topic] = [
            (str(s), *pair) for s, pair in zip(scores, zip(texts[::2], texts[1::2], strict=True), strict=True)
        ]
        write_afs(tmp_path / "argsim", topic, *rows[topic])
    result = evaluate_arguments(Letters(), data=tmp_path)
    pearson, spearman = {}, {}
    for topic, some in rows.items():
        cosines = []
        for _, one, two in some:
            u, v = Letters().encode([one, two]).astype(float)
            cosines.append(u @ v / np.sqrt(u @ u * (v @ v)))
        gold = [float(score) for score, _, _ in some]
        name = {"DP": "death penalty", "GC": "gun control", "GM": "gay marriage"}[topic]
        pearson[name], spearman[name] = 100 * pearsonr(cosines, gold)[0], 100 * spearmanr(cosines, gold)[0]
    assert {topic: one.pearson for topic, one in result.topics.items()} == pytest.approx(pearson, abs=1e-6)
    assert {topic: one.spearman for topic, one in result.topics.items()} == pytest.approx(spearman, abs=1e-6)
    assert result.pearson == pytest.approx(np.mean(list(pearson.values())), abs=1e-6)
    assert result.spearman == pytest.approx(np.mean(list(spearman.values())), abs=1e-6)
    shown = result.as_json()
    assert (shown["corpus"], shown["pairs"], shown["pearson"]) == ("AFS", 49, round(result.pearson, 2))
    assert shown["topics"]["gun control"]["pairs"] == 7
    json.dumps(shown)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252"])
def test_afs_as_published_and_in_unicode(tmp_path: Path, encoding: str) -> None:
    write_afs(
        tmp_path,
        "GM",
        ("4.5", 'He said, "no"\nand left', "naïve \u2013 a cliché"),
        ("0", " a ", "b"),
        encoding=encoding,
    )
    wanted = Pairs(['He said, "no"\nand left', "a"], ["naïve \u2013 a cliché", "b"], [4.5, 0], ["gay marriage"] * 2)
    assert load_arguments(path=tmp_path) == wanted
    assert load_arguments(path=tmp_path / "ArgPairs_GM.csv") == wanted


@pytest.mark.parametrize("names", ["sentence1|sentence2", "sentence_1|sentence_2"])
def test_labels_of_aspect_are_grades(tmp_path: Path, names: str) -> None:
    rows = ("dams|DTORCD|a|b", "dams|NS|c|d", "drones|SS|e|f", "drones|HS|g|h")
    file = write_aspect(tmp_path, *rows, header=f"topic|label|{names}")
    wanted = Pairs(list("aceg"), list("bdfh"), [0, 0, 1, 2], ["dams", "dams", "drones", "drones"])
    assert load_arguments(data=tmp_path) == load_arguments(path=file) == wanted


def test_the_corpus_of_the_paper_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISOTROPE_DATA", str(tmp_path))
    write_aspect(tmp_path, "dams|HS|a|b", "dams|NS|a|c", "dams|SS|b|cc")
    assert evaluate_arguments(Letters()).corpus == "UKP ASPECT"
    write_afs(tmp_path / "argsim", "DP", ("1", "a", "b"), ("2", "a", "aa"), ("3", "b", "cc"))
    assert evaluate_arguments(Letters()).corpus == "AFS"


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            ["dams|XS|a|b"],
            r"ukp_aspect\.tsv: row 1: unknown label 'XS'; it is one of DTORCD, NS, SS",
        ),
        ([], r"ukp_aspect\.tsv: no pairs in it"),
        (["dams|NS|a|b"], "dams: 1 pairs; a correlation needs at least 3"),
        (["dams|NS|a|b"] * 3, "dams: every pair has the same gold score"),
    ],
)
def test_tables_that_can_not_be_used(tmp_path: Path, rows: list[str], message: str) -> None:
    file = write_aspect(tmp_path, *rows)
    with pytest.raises(IsotropeError, match=message):
        evaluate_arguments(Letters(), path=file)


def test_columns_that_are_missing(tmp_path: Path) -> None:
    file = write_aspect(tmp_path, "a|NS|b", header="topic|label|text")
    with pytest.raises(IsotropeError, match="no columns 'sentence1' and 'sentence2'; it has: topic, label, text"):
        load_arguments(path=file)
    write_afs(tmp_path, "DP", ("1", "a", "b"), ("four", "c", "d"))
    with pytest.raises(IsotropeError, match=r"ArgPairs_DP\.csv: line 3: the score 'four' is not a number"):
        load_arguments(path=tmp_path)
    (tmp_path / "ArgPairs_DP.csv").write_text("score,text\n1,a\n")
    with pytest.raises(IsotropeError, match=r"ArgPairs_DP\.csv: line 2: 2 fields; a score comes first"):
        load_arguments(path=tmp_path)


def test_no_corpus_says_what_to_give(tmp_path: Path) -> None:
    for options in ({}, {"data": tmp_path}, {"path": tmp_path}):
        with pytest.raises(
            MissingDataError,
            match=r"^[^\n]*neither ArgPairs_\*\.csv.*name a folder with data= or set ISOTROPE_DATA$",
        ):
            load_arguments(**options)
    with pytest.raises(IsotropeError, match=r"nowhere\.csv: no such file"):
        load_arguments(path=tmp_path / "nowhere.csv")


def test_the_real_corpus(shared_data: Path) -> None:
    pairs = load_arguments(data=shared_data)
    assert len(pairs.scores) == 3595
    assert len(set(pairs.subtask)) == 28
    assert Counter(pairs.scores).keys() == {0, 1, 2}
