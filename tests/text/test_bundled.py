from __future__ import annotations

from collections import Counter

from isotrope.text import bundled_pairs_path, bundled_sentences, read_table
from isotrope.text.bundled import FOLDER


def test_the_sentences_are_plain_and_of_many_kinds() -> None:
    sentences = bundled_sentences()
    assert len(sentences) >= 1500
    assert len(set(sentences)) == len(sentences)
    kinds = Counter(row["kind"] for row in read_table(FOLDER / "sentences.tsv", ["kind", "text"]))
    assert len(kinds) >= 6
    assert min(kinds.values()) >= 100


def test_the_pairs_cover_all_grades_in_both_splits() -> None:
    rows = list(read_table(bundled_pairs_path(), ["split", "genre", "score", "sentence1", "sentence2"]))
    assert len(rows) >= 300
    splits = Counter(row["split"] for row in rows)
    assert splits.keys() == {"dev", "test"}
    assert abs(splits["dev"] / len(rows) - 1 / 3) < 0.02
    for split in splits:
        grades = [float(row["score"]) for row in rows if row["split"] == split]
        assert {round(grade) for grade in grades} == {0, 1, 2, 3, 4, 5}
        assert all(0 <= grade <= 5 for grade in grades)


def test_no_pair_is_of_one_sentence_or_comes_twice() -> None:
    pairs = [frozenset((row["sentence1"], row["sentence2"])) for row in read_table(bundled_pairs_path())]
    assert all(len(pair) == 2 for pair in pairs)
    assert len(set(pairs)) == len(pairs)
