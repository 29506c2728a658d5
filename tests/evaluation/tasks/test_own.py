"""Tables of one's own: read in every shape that people have them in, and measured as the tasks of the suites are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pyarrow
import pytest
from sklearn.metrics import average_precision_score, ndcg_score

import isotrope
from isotrope.evaluation.ranking import ndcg, places
from isotrope.text import bundled_pairs_path, bundled_sentences, read_table

ROWS = list(read_table(bundled_pairs_path()))[:40]
TEXTS = bundled_sentences()[:30]
CLASSES = [{"text": text, "label": text.split()[0]} for text in bundled_sentences()[:60]]
QUERIES = [
    {"query": TEXTS[0], "document": TEXTS[1], "relevance": 2},
    {"query": TEXTS[0], "document": TEXTS[2], "relevance": 1},
    {"query": TEXTS[3], "document": TEXTS[4], "relevance": 1},
    {"query": TEXTS[3], "document": TEXTS[1], "relevance": 0},
    *({"query": None, "document": text, "relevance": None} for text in TEXTS[5:]),
]


def cosines(first: list[str], second: list[str]) -> Any:
    """(first, second)."""
    encoder = isotrope.load()
    return encoder.encode(first, normalize_embeddings=True) @ encoder.encode(second, normalize_embeddings=True).T


PAIRS = np.diag(cosines([row["sentence1"] for row in ROWS], [row["sentence2"] for row in ROWS])).tolist()


def measured(**tables: Any) -> dict[str, Any]:
    (entry,) = isotrope.evaluate("bundled", cache=False, **tables).as_dict()["results"]
    found: dict[str, Any] = entry
    return found


def test_grades_are_measured_as_those_of_a_task(tmp_path: Path) -> None:
    """In any kind of table, under other names and with a byte order mark and semicolons."""
    lines = [f"{row['sentence1']};{row['sentence2']};{row['score']}\n" for row in ROWS]
    (tmp_path / "mine.csv").write_text("Text1;Text2;Score\n" + "".join(lines) + "no score;x;\n", encoding="utf-8-sig")
    given = (tmp_path / "mine.csv", ROWS, pandas.DataFrame(ROWS), pyarrow.Table.from_pylist(ROWS))
    found = [measured(pairs=table)["tasks"] for table in given]
    assert [list(tasks) for tasks in found] == [["mine"], ["pairs"], ["pairs"], ["pairs"]]
    wanted = pandas.Series(PAIRS).corr(pandas.Series([float(row["score"]) for row in ROWS]), method="spearman")
    for tasks in found:
        (one,) = tasks.values()
        assert one["spearman"]["all"] == pytest.approx(100 * wanted, abs=0.01)
        assert one["pairs"] == 40


def test_pairs_of_0_and_1_are_measured_by_average_precision() -> None:
    rows = [{**row, "score": "yes" if float(row["score"]) > 2.5 else "no"} for row in ROWS]
    wanted = 100 * average_precision_score([row["score"] == "yes" for row in rows], PAIRS)
    entry = measured(pairs={"mine": rows})
    assert entry["tasks"]["mine"]["average_precision"] == pytest.approx(wanted, abs=0.01)
    (worst,) = entry["worst"]["mine"]
    order = np.argsort(-np.array(PAIRS))
    same = [row["score"] for row in rows].count("yes")  # which a perfect encoder would have first
    misplaced = [rows[i] for place, i in enumerate(order) if (place < same) != (rows[i]["score"] == "yes")]
    assert {row["sentence1"] for row in worst["rows"]} == {row["sentence1"] for row in misplaced}


def test_classes_find_each_other_and_each_class_is_listed() -> None:
    entry = measured(classes=CLASSES)
    (listing,) = entry["worst"]["classes"]
    count = [row["label"] for row in CLASSES].count
    assert {row["class"]: row["texts"] for row in listing["rows"]} == {
        row["label"]: count(row["label"]) for row in CLASSES if count(row["label"]) > 1
    }
    figures = [row["mean average precision"] for row in listing["rows"]]
    assert figures == sorted(figures)
    mean = np.average(figures, weights=[row["texts"] for row in listing["rows"]])
    assert entry["tasks"]["classes"]["mean_average_precision"] == pytest.approx(mean, abs=0.01)


def test_queries_find_their_documents_as_scikit_learn_has_it() -> None:
    documents = list(dict.fromkeys(row["document"] for row in QUERIES))
    similarities = cosines([TEXTS[0], TEXTS[3]], documents)
    relevance = np.zeros(similarities.shape)
    for row in QUERIES:
        if row["query"]:
            relevance[[TEXTS[0], TEXTS[3]].index(row["query"]), documents.index(row["document"])] = row["relevance"]
    wanted = ndcg_score(relevance, similarities, k=10)
    found = measured(retrieval=QUERIES)["tasks"]["retrieval"]
    assert found["ndcg_at_10"] == pytest.approx(100 * wanted, abs=0.01)
    assert (found["queries"], found["documents"]) == (2, 28)


def test_ndcg_of_many_rankings_is_that_of_scikit_learn() -> None:
    generator = np.random.default_rng(0)
    for _ in range(20):
        query, documents = generator.normal(size=(1, 4)), generator.normal(size=(30, 4))
        gains = generator.integers(0, 4, 30)
        relevant = np.flatnonzero(gains)
        (found,) = places(query, documents, [relevant.tolist()])
        cosines = (documents @ query[0]) / np.linalg.norm(documents, axis=1)
        assert ndcg(found, gains[relevant].tolist(), 10) == pytest.approx(ndcg_score([gains], [cosines], k=10))


def test_several_tables_and_models_have_intervals_and_differences(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    tables = [tmp_path / "a.jsonl", f"second={tmp_path / 'b.jsonl'}"]
    results = isotrope.evaluate(["bundled"], pairs=tables, pooling=["mean", "cls"], cache=False)
    assert [column.task for column in results.columns] == ["a", "second", "average"]
    for column in results.columns[:2]:
        first, second = column.cells
        assert first.interval is not None
        assert first.interval.low < first.value < first.interval.high
        assert first.difference is None
        assert second.difference is not None
    assert "worst-ranked pairs (5 of" in str(results)
    with pytest.raises(isotrope.IsotropeError, match="two tables or tasks are called 'a'; name one"):
        isotrope.evaluate("bundled", pairs=[tmp_path / "a.jsonl"] * 2, cache=False)


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ({"pairs": [{"a": "x", "b": "y"}]}, r"need a column sentence1 \(or text1.*it has: a, b$"),
        ({"pairs": [{**ROWS[0], "score": "good"}]}, "row 1: the score 'good' is not a number"),
        ({"pairs": [{**ROWS[0], "score": 3.0}] * 2}, "2 pairs; a correlation needs at least 3"),
        ({"pairs": [{**ROWS[0], "score": None}]}, "no pairs in it"),
        ({"classes": [{"text": "x", "label": "y"}] * 3}, "two classes or more are needed"),
        ({"retrieval": [{"query": "x", "document": "y"}]}, "one document in all"),
        ({"retrieval": [{"query": "x", "document": "y", "relevance": 0}]}, "no queries with a relevant document"),
        ({"tasks": "mine.csv"}, "'mine.csv' is not a task; give a table of your own as pairs="),
        ({"tasks": "pairs"}, "pairs: give the table too"),
    ],
)
def test_what_cant_be_measured_is_said(tables: dict[str, Any], message: str) -> None:
    with pytest.raises(isotrope.IsotropeError, match=message):
        isotrope.evaluate("bundled", cache=False, **tables)
