from __future__ import annotations

import gzip
import hashlib
import io
import json
import pickle
import resource
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from datasets import Dataset
from hypothesis import given, settings
from hypothesis import strategies as st

from isotrope.io.errors import IsotropeError
from isotrope.text import corpus as corpus_module
from isotrope.text.corpus import Corpus, CorpusCounts, _distinct, build_corpus, open_corpus

PAIR = ("sentence1", "sentence2")
NLI = (*PAIR, "label")
ROWS = [
    {"sentence1": "A man sleeps.", "sentence2": "Someone rests.", "label": "entailment"},
    {"sentence1": "A man sleeps.", "sentence2": "He dreams.", "label": "neutral"},
    {"sentence1": "A dog runs.", "sentence2": "A dog lies still.", "label": "contradiction"},
]


def written(path: Path, rows: list[dict[str, Any]]) -> Path:
    """The rows as a file of the kind that its name tells."""
    if path.suffix == ".parquet":
        Dataset.from_list(rows).to_parquet(str(path))
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        between = "\t" if ".tsv" in path.name else ","
        lines = [between.join(rows[0]), *(between.join(str(value) for value in row.values()) for row in rows)]
        content = ("\n".join(lines) + "\n").encode()
        path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def everything(corpus: Corpus) -> dict[str, list[Any]]:
    return corpus.rows(range(len(corpus)))


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.tsv.gz", "a.jsonl", "a.parquet"])
def test_rows_of_every_kind_of_file_are_the_same_corpus(tmp_path: Path, name: str) -> None:
    corpus = build_corpus([written(tmp_path / name, ROWS)], NLI, tmp_path / "out")
    in_memory = build_corpus([ROWS], NLI, tmp_path / "memory")
    assert everything(corpus) == {
        "sentence1": [row["sentence1"] for row in ROWS],
        "sentence2": [row["sentence2"] for row in ROWS],
        "label": [0, 1, 2],
    }
    assert corpus.fingerprint == in_memory.fingerprint
    assert corpus.counts == CorpusCounts(rows=3, blank=0, unlabelled=0, distinct=2)
    assert (corpus.columns, corpus.sources) == (NLI, (str(tmp_path / name),))


def test_plain_text_a_table_and_memory_go_one_behind_the_other(tmp_path: Path) -> None:
    plain = tmp_path / "plain.txt"
    plain.write_text("One. \n\n\tTwo.\n", encoding="utf-8")
    table = written(tmp_path / "table.csv", [{"id": "1", "sentence": "Three."}])
    corpus = build_corpus([plain, table, ["Four.", "  "], iter(["One."])], ("text",), tmp_path / "out")
    assert everything(corpus) == {"text": ["One.", "Two.", "Three.", "Four.", "One."]}
    assert corpus.counts == CorpusCounts(rows=5, blank=2, unlabelled=0, distinct=4)


def test_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"One.\nTwo.\n")))
    assert everything(build_corpus(["-"], ("text",), tmp_path)) == {"text": ["One.", "Two."]}


def test_column_names_what_tables_call_text(tmp_path: Path) -> None:
    table = written(tmp_path / "a.tsv", ROWS)
    plain = tmp_path / "plain.txt"
    plain.write_text("Plain.\n")
    assert (
        everything(build_corpus([table], ("text",), tmp_path / "1", column="sentence2"))["text"][0] == "Someone rests."
    )
    both = build_corpus([plain, table], ("text",), tmp_path / "2", column="sentence2")
    assert everything(both)["text"][:2] == ["Plain.", "Someone rests."]
    mixed = build_corpus([table], ("text", "label"), tmp_path / "3", column="sentence1")
    assert everything(mixed) == {"text": [row["sentence1"] for row in ROWS], "label": [0, 1, 2]}


def test_sources_without_the_columns_are_passed_over(tmp_path: Path) -> None:
    table = written(tmp_path / "nli.tsv", ROWS)
    plain = tmp_path / "plain.txt"
    plain.write_text("Plain.\n")
    pairs = build_corpus([plain, table], PAIR, tmp_path / "pairs")
    assert (len(pairs), pairs.sources) == (3, (str(table),))
    text = build_corpus([table, plain], ("text",), tmp_path / "text")
    assert (everything(text), text.sources) == ({"text": ["Plain."]}, (str(plain),))


# -- keys, fingerprint, counts -----------------------------------------------------------------------------------------


def test_keys_are_the_hashes_of_the_texts(tmp_path: Path) -> None:
    corpus = build_corpus([ROWS], NLI, tmp_path)
    expected = [
        [
            int.from_bytes(hashlib.blake2b(row[column].encode(), digest_size=8).digest(), "little", signed=True)
            for column in PAIR
        ]
        for row in ROWS
    ]
    assert corpus.keys.dtype == np.int64
    assert corpus.keys.tolist() == expected


def changed(column: str, value: str) -> list[dict[str, Any]]:
    return [*ROWS[:2], {**ROWS[2], column: value}]


@pytest.mark.parametrize(
    "rows", [ROWS[::-1], ROWS[:2], changed("label", "neutral"), changed("sentence2", "A dog lies still")]
)
def test_fingerprint_tells_any_difference(tmp_path: Path, rows: list[dict[str, Any]]) -> None:
    assert (
        build_corpus([rows], NLI, tmp_path / "a").fingerprint != build_corpus([ROWS], NLI, tmp_path / "b").fingerprint
    )


def test_fingerprint_is_the_same_however_the_rows_are_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = build_corpus([ROWS], NLI, tmp_path / "a")
    monkeypatch.setattr(corpus_module, "CHUNK_ROWS", 2)
    cut = build_corpus([ROWS[:1], ROWS[1:]], NLI, tmp_path / "b")
    assert (cut.fingerprint, everything(cut)) == (whole.fingerprint, everything(whole))


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(-20, 20)), st.integers(1, 7))
def test_distinct_counts_part_by_part(values: list[int], at_a_time: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(corpus_module, "SORTED_KEYS", at_a_time)
        assert _distinct(np.array(values or [0], dtype=np.int64)) == len(set(values or [0]))


@settings(max_examples=25, deadline=None)
@given(
    rows=st.lists(st.tuples(st.text(max_size=5), st.none() | st.text(max_size=5)), min_size=1), cut=st.integers(1, 4)
)
def test_what_is_not_blank_comes_back_stripped(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str | None]], cut: int
) -> None:
    kept = [(a.strip(), b.strip()) for a, b in rows if a.strip() and b and b.strip()]
    given_rows = [{"sentence1": a, "sentence2": b} for a, b in [*rows, ("x", "y")]]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(corpus_module, "CHUNK_ROWS", cut)
        corpus = build_corpus([given_rows], PAIR, tmp_path_factory.mktemp("corpus"))
    found = everything(corpus)
    assert list(zip(found["sentence1"], found["sentence2"], strict=True)) == [*kept, ("x", "y")]
    assert corpus.counts.blank == len(rows) - len(kept)


# -- labels ------------------------------------------------------------------------------------------------------------


def labelled(*labels: Any) -> list[dict[str, Any]]:
    return [{"sentence1": f"a{i}", "sentence2": f"b{i}", "label": label} for i, label in enumerate(labels)]


def test_labels_in_words_and_numbers_and_without_gold(tmp_path: Path) -> None:
    given_labels = ["Entailment", "NEUTRAL", "contradiction ", 0, 1, 2, "0", "1", "2", -1, "-", "-1", None, ""]
    corpus = build_corpus([labelled(*given_labels)], NLI, tmp_path)
    assert everything(corpus)["label"] == [0, 1, 2] * 3
    assert (corpus.counts.unlabelled, corpus.counts.blank) == (3, 2)


@pytest.mark.parametrize("label", ["entails", 3, "1.5", True, "not_entailment"])
def test_any_other_label_is_an_error_with_file_and_row(tmp_path: Path, label: Any) -> None:
    file = written(tmp_path / "nli.tsv", labelled("neutral", label))
    with pytest.raises(IsotropeError, match=rf"nli\.tsv: row 2: label '{str(label).lower()}' is none of entailment"):
        build_corpus([file], NLI, tmp_path / "out")
    assert not list((tmp_path / "out").iterdir())  # nothing half-written stays


# -- what is wrong, where, what to do ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (["One.", 2], "row 2: 2 is neither a sentence nor a row"),
        ([{"text": "One."}, {"text": 2}], "row 2: column 'text' holds 2, not text"),
        ([{"text": "One."}, {"sentence": "Two."}], "row 2: no column 'text'; it has: sentence"),
        (["One.", "\ud83d"], "row 2: .* half a character"),
        ([" ", ""], "no sentences left: 2 rows with a blank field"),
        ([], "no sentences in it"),
    ],
)
def test_bad_rows_are_named(tmp_path: Path, rows: list[Any], message: str) -> None:
    with pytest.raises(IsotropeError, match=f"^the given text: {message}"):
        build_corpus([rows], ("text",), tmp_path)


def test_a_missing_file_is_an_error_even_beside_others(tmp_path: Path) -> None:
    with pytest.raises(IsotropeError, match=r"gone\.txt: no such file"):
        build_corpus([["One."], tmp_path / "gone.txt"], ("text",), tmp_path / "out")
    with pytest.raises(IsotropeError, match="no text was given"):
        build_corpus([], ("text",), tmp_path / "out")


# -- on disk -----------------------------------------------------------------------------------------------------------


def test_a_built_corpus_opens_again_here_and_in_another_process(tmp_path: Path) -> None:
    built = build_corpus([ROWS], NLI, tmp_path)
    for again in (open_corpus(tmp_path), pickle.loads(pickle.dumps(built))):
        assert everything(again) == everything(built)
        assert (again.fingerprint, again.counts, again.columns) == (built.fingerprint, built.counts, built.columns)
        assert isinstance(again.keys, np.memmap)
    assert built.rows(np.array([2, 0]))["label"] == [2, 0]
    assert len(pickle.dumps(built)) < 1000


def test_a_build_that_fails_leaves_no_corpus_not_even_the_old_one(tmp_path: Path) -> None:
    def breaks() -> Iterator[str]:
        yield from (f"Sentence {i}." for i in range(2 * corpus_module.CHUNK_ROWS))
        raise KeyboardInterrupt

    build_corpus([ROWS], NLI, tmp_path)
    with pytest.raises(KeyboardInterrupt):
        build_corpus([breaks()], ("text",), tmp_path)
    assert not list(tmp_path.glob(".*"))
    with pytest.raises(IsotropeError, match="no corpus in it"):
        open_corpus(tmp_path)


def test_a_full_disk_is_one_line(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, hard))  # no file may grow beyond it
    try:
        with pytest.raises(IsotropeError, match="can't be written"):
            build_corpus([(f"Sentence number {i}." for i in range(50_000))], ("text",), tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc to see the memory in use")
def test_memory_does_not_grow_with_the_rows(tmp_path: Path) -> None:
    def in_use() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()

    peak = 0

    def sentences() -> Iterator[str]:
        nonlocal peak
        for i in range(300_000):
            if i % 10_000 == 0:
                peak = max(peak, in_use())
            yield f"{i} " + "goes on and on " * 20

    build_corpus([["First, what is slow to import."]], ("text",), tmp_path / "small")
    before = in_use()
    corpus = build_corpus([sentences()], ("text",), tmp_path / "large")
    assert len(corpus) == corpus.counts.distinct == 300_000
    assert (tmp_path / "large" / "corpus.arrow").stat().st_size > 90e6
    assert max(peak, in_use()) - before < 30e6
