from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow
import pytest
from datasets import ClassLabel, Dataset, DatasetDict, Features, Value

from isotrope.io.errors import IsotropeError
from isotrope.text import Counts, read_sentences
from isotrope.text.corpus import CorpusCounts, build_corpus
from isotrope.text.sources import as_sources

TEXTS = ["A dog.", None, " Ein Hündchen. ", "", "A cat."]
KEPT = ["A dog.", "Ein Hündchen.", "A cat."]
COLUMNS = {"id": [1, 2, 3, 4, 5], "review": TEXTS}


def nested(frame: pd.DataFrame) -> pd.DataFrame:
    class Mine(pd.DataFrame):
        """As geopandas and others have one."""

    return Mine(frame)


TABLES: dict[str, Callable[[], Any]] = {
    "pandas": lambda: pd.DataFrame(COLUMNS),
    "pandas, strings": lambda: pd.DataFrame(COLUMNS).convert_dtypes(),
    "pandas, objects": lambda: pd.DataFrame(COLUMNS).astype(object),
    "pandas, Arrow": lambda: pd.DataFrame(COLUMNS).convert_dtypes(dtype_backend="pyarrow"),
    "pandas, categories": lambda: pd.DataFrame(COLUMNS).astype({"review": "category"}),
    "pandas, another index": lambda: pd.DataFrame(COLUMNS, index=[7, 7, 7, 1, 0]),
    "pandas, a class of one's own": lambda: nested(pd.DataFrame(COLUMNS)),
    "polars": lambda: pl.DataFrame(COLUMNS),
    "polars, lazy": lambda: pl.DataFrame(COLUMNS).lazy(),
    "Arrow": lambda: pyarrow.table(COLUMNS),
    "Arrow, one batch": lambda: pyarrow.table(COLUMNS).to_batches()[0],
    "Arrow, a reader": lambda: pyarrow.table(COLUMNS).to_reader(max_chunksize=2),
    "datasets": lambda: Dataset.from_dict(COLUMNS),
    "datasets, streamed": lambda: Dataset.from_dict(COLUMNS).to_iterable_dataset(),
    "rows": lambda: [{"id": i, "review": text} for i, text in zip(COLUMNS["id"], TEXTS, strict=True)],
}
SINGLE: dict[str, Callable[[], Any]] = {
    "pandas": lambda: pd.Series(TEXTS),
    "pandas, named": lambda: pd.Series(TEXTS, name="review"),
    "pandas, NA": lambda: pd.Series(TEXTS, dtype="string"),
    "pandas, index": lambda: pd.Index(TEXTS),
    "polars": lambda: pl.Series(TEXTS),
    "polars, named": lambda: pl.Series("review", TEXTS),
    "Arrow": lambda: pyarrow.array(TEXTS),
    "Arrow, chunks": lambda: pyarrow.chunked_array([TEXTS[:2], TEXTS[2:]]),
    "datasets": lambda: Dataset.from_dict(COLUMNS)["review"],
    "numpy": lambda: np.array(TEXTS, dtype=object),
    "list": lambda: [*TEXTS[:1], float("nan"), *TEXTS[2:]],
    "generator": lambda: (text for text in TEXTS),
}


@pytest.mark.parametrize("column", ["review", None])
@pytest.mark.parametrize("kind", TABLES)
def test_missing_cells_of_a_table_are_skipped_and_counted(kind: str, column: str | None) -> None:
    counts = Counts()
    assert list(read_sentences(TABLES[kind](), column, counts)) == KEPT
    assert counts == Counts(sentences=3, blank=2)


@pytest.mark.parametrize("kind", SINGLE)
def test_missing_cells_of_a_column_are_skipped_and_counted(kind: str) -> None:
    counts = Counts()
    assert list(read_sentences(SINGLE[kind](), counts=counts)) == KEPT
    assert counts == Counts(sentences=3, blank=2)


@pytest.mark.parametrize("kind", ["pandas", "polars", "Arrow", "datasets", "rows"])
def test_the_counts_reach_the_corpus(kind: str, tmp_path: Path) -> None:
    corpus = build_corpus(as_sources(TABLES[kind]()), ("text",), tmp_path, column="review")
    assert corpus.counts == CorpusCounts(rows=3, blank=2, unlabelled=0, distinct=3)
    assert corpus.rows(range(3)) == {"text": KEPT}


@pytest.mark.parametrize("name", ["x.txt", "x.csv", "x.tsv", "x.jsonl"])
def test_blank_lines_of_files_reach_the_corpus_too(name: str, tmp_path: Path) -> None:
    lines = {"txt": "A.\n\nB.\n \n", "csv": "id,text\n1,A.\n\n2,B.\n3, \n", "tsv": "text\nA.\n\nB.\n \n"}
    jsonl = '{"text": "A."}\n\n{"text": "B."}\n{"text": null}\n'
    (tmp_path / name).write_text({**lines, "jsonl": jsonl}[name[2:]])
    counts = build_corpus([tmp_path / name], ("text",), tmp_path / "out").counts
    assert (counts.rows, counts.blank) == (2, 2)


def test_the_column_is_found_where_the_first_rows_lack_it() -> None:
    frame = pd.DataFrame({"id": range(60), "title": [None] * 50 + ["A dog."] * 10})
    assert list(read_sentences(frame)) == ["A dog."] * 10


@pytest.mark.parametrize("kind", ["pandas", "polars", "Arrow", "datasets"])
def test_a_missing_column_is_an_error_that_names_those_there_are(kind: str) -> None:
    with pytest.raises(
        IsotropeError, match=r"^the given \w+: no column 'reviews' \(did you mean 'review'\?\); it has: id, review$"
    ):
        list(read_sentences(TABLES[kind](), "reviews"))
    with pytest.raises(IsotropeError, match=r"^the given \w+: row 1: column 'id' holds 1, not text$"):
        list(read_sentences(TABLES[kind](), "id"))


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame([["a", "b"]], columns=["text", "text"]),
        pyarrow.Table.from_arrays([pyarrow.array(["a"])] * 2, names=["text", "text"]),
    ],
    ids=["pandas", "Arrow"],
)
def test_two_columns_of_one_name(table: Any) -> None:
    with pytest.raises(IsotropeError, match="two columns are named 'text'"):
        list(read_sentences(table))


def test_what_is_no_text_is_told_in_one_line() -> None:
    splits = DatasetDict(train=Dataset.from_dict(COLUMNS), test=Dataset.from_dict(COLUMNS))
    for source, message in {
        "splits": (
            splits,
            r"the given DatasetDict: it has the splits train, test; give one of them",
        ),
        "dict": ({"text": ["a"]}, "the given text: a dict, where sentences, rows or a table are needed"),
        "number": (5, "the given text: a int, where sentences"),
        "empty": (pd.DataFrame({"text": []}), "the given DataFrame: no sentences in it"),
        "missing": (pd.Series([None, None]), r"the given Series: no sentences in it \(blank lines only\)"),
        "two": (
            pl.DataFrame({"a": ["x"], "b": ["y"]}),
            "the given DataFrame: which column. Name one with column=",
        ),
        "bytes": ([b"a"], "row 1: b'a' is neither a sentence nor a row"),
    }.values():
        with pytest.raises(IsotropeError, match=message):
            list(read_sentences(source))


def test_labels_of_a_data_set_go_by_name(tmp_path: Path) -> None:
    names = ["contradiction", "entailment", "neutral"]
    features = Features({"sentence1": Value("string"), "sentence2": Value("string"), "label": ClassLabel(names=names)})
    rows = [{"sentence1": f"a{i}", "sentence2": f"b{i}", "label": label} for i, label in enumerate((1, 2, 0, -1))]
    corpus = build_corpus([Dataset.from_list(rows, features=features)], ("sentence1", "sentence2", "label"), tmp_path)
    assert corpus.rows(range(3))["label"] == [0, 1, 2]
    assert corpus.counts.unlabelled == 1


def test_what_a_caller_gives_is_one_source_or_several(tmp_path: Path) -> None:
    frame, series = pd.DataFrame(COLUMNS), pd.Series(TEXTS)
    assert as_sources("x.txt") == ["x.txt"]
    assert as_sources(tmp_path) == [tmp_path]
    assert as_sources([tmp_path, tmp_path]) == [tmp_path, tmp_path]
    assert as_sources(["A dog.", "A cat."]) == [["A dog.", "A cat."]]
    assert as_sources(text for text in ["A dog."]) == [["A dog."]]
    assert [type(source) for source in as_sources(frame)] == [pd.DataFrame]
    assert [type(source) for source in as_sources([frame, series, tmp_path])] == [
        pd.DataFrame,
        pd.Series,
        type(tmp_path),
    ]
