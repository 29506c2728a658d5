from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isotrope.io.errors import IsotropeError
from isotrope.text.corpus import Corpus
from isotrope.text.entailment import PAIR, TRIPLET, pair_rows, read_nli, triplet_rows
from isotrope.text.sources import Source

Row = dict[str, Any]
WORDS = {0: "entailment", 1: "neutral", 2: "contradiction"}
rows = st.lists(
    st.builds(
        lambda premise, hypothesis, label, word: {
            "premise": premise,
            "hypothesis": hypothesis,
            "label": WORDS[label] if word else label,
        },
        st.sampled_from("abc"),
        st.sampled_from("uvwxyz"),
        st.integers(0, 2),
        st.booleans(),
    ),
    min_size=1,
    max_size=40,
)


def made(sources: list[Source], make: Callable[[Corpus], Iterator[list[tuple[str, ...]]]]) -> list[tuple[str, ...]]:
    with TemporaryDirectory() as folder:
        return [row for chunk in make(read_nli(sources, Path(folder))) for row in chunk]


def naive_pairs(table: list[Row]) -> list[tuple[str, ...]]:
    entailed = ((row["premise"], row["hypothesis"]) for row in table if row["label"] in ("entailment", 0))
    return list(dict.fromkeys(entailed))


def naive_triplets(table: list[Row]) -> list[tuple[str, ...]]:
    label: dict[tuple[str, str], str] = {}
    for row in table:
        word = WORDS.get(row["label"], row["label"])
        if word != "neutral":
            label.setdefault((row["premise"], row["hypothesis"]), word)
    positives, negatives = (
        [pair for pair, word in label.items() if word == wanted] for wanted in ("entailment", "contradiction")
    )
    triplets = []
    for i, (premise, positive) in enumerate(positives):
        before = sum(other == premise for other, _ in positives[:i])
        against = [hypothesis for other, hypothesis in negatives if other == premise]
        if against:
            triplets.append((premise, positive, against[before % len(against)]))
    return triplets


@given(rows)
@settings(max_examples=60, deadline=None)
def test_pairs_and_triplets_are_those_of_a_plain_loop(table: list[Row]) -> None:
    for make, naive in ((pair_rows, naive_pairs), (triplet_rows, naive_triplets)):
        if naive(table):
            assert made([table], make) == naive(table)
        else:
            with pytest.raises(IsotropeError, match=r"no pair in it is labelled entailment|no premise in it has both"):
                made([table], make)


def test_snli(shared_data: Path) -> None:
    file = shared_data / "nli" / "snli_dev_test.tsv.gz"
    with gzip.open(file, "rt", encoding="utf-8", newline="\n") as lines:
        header, *rest = (line.rstrip("\n").split("\t") for line in lines)
    table = [dict(zip(header, fields, strict=True)) for fields in rest]
    pairs, triplets = made([file], pair_rows), made([file], triplet_rows)
    assert pairs == naive_pairs(table)
    assert (len(pairs), len(triplets)) == (6695, 6337)
    assert {(anchor, positive) for anchor, positive, _ in triplets} < set(pairs)
    contradicted = {(row["premise"], row["hypothesis"]) for row in table if row["label"] == "contradiction"}
    assert {(anchor, negative) for anchor, _, negative in triplets} <= contradicted
    premises = {anchor for anchor, _ in contradicted}
    assert [row[:2] for row in triplets] == [pair for pair in pairs if pair[0] in premises]


def test_several_sources_and_rows_without_a_gold_label(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("sentence1\tsentence2\tlabel\np\th\t0\np\tn\t-1\np\t\t0\n")
    (tmp_path / "b.jsonl").write_text('{"premise": "p", "hypothesis": "c", "label": "Contradiction"}\n' * 2)
    sources: list[Source] = [tmp_path / "a.tsv", tmp_path / "b.jsonl"]
    assert made(sources, pair_rows) == [("p", "h")]
    assert made(sources, triplet_rows) == [("p", "h", "c")]


def test_the_columns_are_those_that_the_recipes_read() -> None:
    from isotrope import recipes

    for name, columns in (("bsl", PAIR), ("simcse-sup", TRIPLET), ("nli-finetune", TRIPLET)):
        assert [set(stage.columns) for stage in recipes.load(name).stages] == [set(columns)]


def test_an_unknown_label_is_named() -> None:
    with pytest.raises(IsotropeError, match="row 1: label 'maybe' is none of entailment, neutral, contradiction"):
        made([[{"premise": "p", "hypothesis": "h", "label": "maybe"}]], pair_rows)
