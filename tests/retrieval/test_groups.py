"""Paraphrases, duplicates and clusters: against comparing everything with everything."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pyarrow import parquet
from sentence_transformers import SentenceTransformer

import isotrope
from isotrope.io.errors import IsotropeError
from isotrope.retrieval.clustering import naming_words
from isotrope.retrieval.duplicates import suggest_threshold
from isotrope.retrieval.left_out import LeftOut
from isotrope.retrieval.texts import read_texts
from isotrope.text import bundled_sentences

TEXTS = bundled_sentences()[:60]
ROWS = [*TEXTS, None, TEXTS[3], TEXTS[5].upper(), f"{TEXTS[7]}!", TEXTS[3]]


@pytest.fixture(scope="module")
def encoder() -> isotrope.Encoder:
    return isotrope.load("bundled", device="cpu")


def test_similarity_is_the_cosine_of_texts_or_vectors(encoder: isotrope.Encoder, tmp_path: Path) -> None:
    vectors = encoder.encode(TEXTS[:5])
    wanted = np.array([[x @ y / np.linalg.norm(x) / np.linalg.norm(y) for y in vectors] for x in vectors])
    for found in (encoder.similarity(TEXTS[:5]), encoder.similarity(vectors, TEXTS[:5])):
        assert np.abs(found - wanted).max() < 1e-5
    assert encoder.similarity(TEXTS[0], TEXTS[1]).tolist() == [[pytest.approx(wanted[0, 1], abs=1e-5)]]
    encoder.save(tmp_path / "model")
    theirs = SentenceTransformer(str(tmp_path / "model"), device="cpu")
    assert np.abs(theirs.similarity(vectors, vectors).numpy() - wanted).max() < 1e-5


def test_paraphrases_are_the_nearest_of_all_pairs(encoder: isotrope.Encoder) -> None:
    found = isotrope.paraphrases(ROWS, encoder, most=25).pairs
    distinct = list(dict.fromkeys(text for text in ROWS if text))
    cosines = encoder.similarity(distinct)
    wanted = sorted(combinations(range(len(distinct)), 2), key=lambda pair: -cosines[pair])[:25]
    assert [pair.cosine for pair in found] == pytest.approx([cosines[pair] for pair in wanted], abs=1e-5)
    for pair in found:
        assert pair.texts == tuple(ROWS[row] for row in pair.rows)
        assert pair.texts[0] != pair.texts[1]


def test_every_duplicate_is_near_the_row_that_is_kept(encoder: isotrope.Encoder) -> None:
    for threshold in (0.8, 0.95, None):
        found = isotrope.duplicates(ROWS, encoder, threshold=threshold)
        near = {
            pair: float(encoder.similarity(ROWS[pair[0]], ROWS[pair[1]])[0, 0]) for pair in found.duplicate_of.items()
        }
        assert min(near.values()) >= found.threshold - 1e-5
        keeps = found.duplicate_of.get
        assert keeps(61) == keeps(64) == keeps(3, 3)  # the same text
        kept = [row for row in range(len(ROWS)) if ROWS[row] and row not in found.duplicate_of]
        cosines = encoder.similarity([str(ROWS[row]) for row in kept])
        assert (cosines - np.eye(len(kept))).max() < found.threshold + 1e-5  # no two that are kept say the same
        assert 60 not in found.duplicate_of


def test_the_threshold_is_what_losing_a_word_costs(encoder: isotrope.Encoder) -> None:
    read = read_texts(ROWS, encoder)
    suggested = suggest_threshold(read)
    assert suggested == suggest_threshold(read)
    lost = [float(encoder.similarity(text, " ".join(text.split()[1:]))[0, 0]) for text in TEXTS]
    assert min(lost) < suggested < max(lost)
    assert isotrope.duplicates(ROWS, encoder).threshold == suggested


def test_a_table_is_marked(encoder: isotrope.Encoder, tmp_path: Path) -> None:
    frame = pd.DataFrame({"id": range(len(ROWS)), "said": ROWS})
    found = isotrope.duplicates(frame, encoder, column="said", threshold=0.99, output=tmp_path / "x.parquet")
    table = parquet.read_table(tmp_path / "x.parquet").to_pydict()
    assert table["id"] == list(range(len(ROWS)))
    assert {i: kept for i, kept in enumerate(table["duplicate_of"]) if kept is not None} == found.duplicate_of
    groups = isotrope.cluster(frame, encoder, column="said", clusters=3, output=tmp_path / "y.parquet")
    table = parquet.read_table(tmp_path / "y.parquet").to_pydict()
    assert table["cluster"] == groups.labels()
    assert table["cluster"][60] is None
    assert table["cluster_words"][0] == ", ".join(groups.clusters[table["cluster"][0]].words)


def test_clusters_take_every_row_and_are_named_by_their_words() -> None:
    animals = [
        f"The {one} {does} in the garden." for one in ("dog", "cat", "horse") for does in ("runs", "sleeps", "eats")
    ]
    money = [
        f"The bank {does} the interest rate {when}."
        for does in ("raises", "lowers")
        for when in ("now", "today", "soon")
    ]
    found = isotrope.cluster([*animals, "", *money], "small", clusters=2)
    assert [one.rows for one in found.clusters] == [list(range(9)), list(range(10, 16))]
    assert set(found.clusters[0].words) <= {"dog", "cat", "horse", "runs", "sleeps", "eats", "garden"}
    assert set(found.clusters[1].words) & {"bank", "interest", "rate"}
    assert set(found.clusters[0].examples) <= set(animals)
    assert sum(len(one.rows) for one in isotrope.cluster([*animals, *money], "small").clusters) == 15


GREETED = ("Hello,", "Dear support team,", "Good morning,", "Hi there,")
SIGNED = ("Kind regards\nAna", "Thanks in advance!\nBen\n-- \nSent from my phone", "Best wishes, Chloe")


def _letters() -> list[str]:
    """What people want, of two kinds, between every greeting and signature."""
    wants = [f"My {one} card is {two}." for one in ("new", "old", "debit") for two in ("lost", "stolen", "blocked")]
    wants += [f"The exchange rate for {one} is {two}." for one in ("euros", "pounds", "yen") for two in ("bad", "low")]
    both = [(greeted, signed) for greeted in GREETED for signed in SIGNED]
    letters = [f"{both[i % 12][0]}\n{want}\n{both[i % 12][1]}" for i, want in enumerate(wants * 4)]
    return list(dict.fromkeys(letters))


def test_greetings_and_signatures_make_no_cluster() -> None:
    letters = _letters()
    found, whole = (isotrope.cluster(letters, "small", clusters=4, whole=whole) for whole in (False, True))
    pure = [
        [len({" card " in letters[row] for row in one.rows}) == 1 for one in some.clusters] for some in (found, whole)
    ]
    assert all(pure[0])
    assert not all(pure[1])
    named = {word for one in found.clusters for word in one.words}
    assert {"lost", "stolen", "exchange"} <= named
    assert not named & {"hello", "dear", "team", "regards", "ana", "ben", "chloe", "phone", "sent", "wishes"}
    assert {"hello", "sent from my phone", "kind regards"} <= set(found.left_out.phrases)
    assert all(example in letters for one in found.clusters for example in one.examples)  # as they were
    assert "Ignored, because many texts contain it: 'kind regards', 'ana', " in str(found)
    assert whole.left_out == LeftOut()


NOTHING = ["N/A", "n/a", "N/A. -", "N/A", "see attachment"]


def test_placeholders_say_nothing(tmp_path: Path) -> None:
    rows = [*TEXTS[:20], *NOTHING, TEXTS[0]]
    pairs, whole = (isotrope.paraphrases(rows, "small", most=5, whole=whole) for whole in (False, True))
    assert not {text for pair in pairs.pairs for text in pair.texts} & set(NOTHING)
    assert set(whole.pairs[0].texts) <= set(NOTHING)  # which lead, unless they are left out
    same = isotrope.duplicates(rows, "small", output=tmp_path / "x.parquet")
    assert same.duplicate_of == {25: 0}
    marked = parquet.read_table(tmp_path / "x.parquet").to_pydict()["duplicate_of"]
    assert marked == [None] * 25 + [0]
    assert 23 in isotrope.duplicates(rows, "small", whole=True).duplicate_of
    groups = isotrope.cluster(rows, "small", clusters=2)
    assert groups.labels()[20:25] == [None] * 5
    for found in (pairs, same, groups):
        assert found.as_dict()["placeholders"] == 5
        assert "Ignored: 5 rows with nothing but a placeholder such as 'N/A'" in str(found)
    assert "Ignored" not in str(whole)
    with pytest.raises(IsotropeError, match=r"no sentences in it \(placeholders such as '-' only\)"):
        isotrope.paraphrases(["-", None])


def test_letters_are_not_alike_for_their_greetings() -> None:
    """Those that want the same are paraphrases; a difference that many texts share is still one to `duplicates`."""
    letters = _letters()
    found, whole = (isotrope.paraphrases(letters, "small", most=20, whole=whole) for whole in (False, True))
    wanted = [[_want(pair.texts[0]) == _want(pair.texts[1]) for pair in some.pairs] for some in (found, whole)]
    assert sum(wanted[0]) > sum(wanted[1])
    assert all(wanted[0])
    assert {"hello", "sent from my phone"} <= set(found.left_out.phrases)
    cloths = ("cotton", "linen", "silk", "woollen", "denim", "velvet")
    shirts = [f"A {cloth} shirt for the summer, {size}" for cloth in cloths for size in ("large", "small")]
    assert isotrope.paraphrases(shirts, "small").left_out.phrases == ["large", "small"]
    assert isotrope.duplicates(shirts, "small", threshold=0.9999).groups == []


def _want(letter: str) -> str:
    return next(line for line in letter.splitlines() if line.startswith(("My ", "The exchange")))


def test_words_are_weighed_as_in_the_paper() -> None:
    """c-TF-IDF, word by word."""
    texts = ["red red fox the", "red cow the", "the blue fish", "blue whale sea"]
    labels = np.array([0, 0, 1, 1])
    (first, second) = naming_words(texts, labels, 2)
    words = [text.split() for text in texts]
    of_class = [words[0] + words[1], words[2] + words[3]]
    mean = sum(map(len, of_class)) / 2

    def weight(word: str, k: int) -> float:
        return of_class[k].count(word) * float(np.log(1 + mean / sum(one.count(word) for one in of_class)))

    assert first == sorted({"red", "fox", "cow"}, key=lambda word: (-weight(word, 0), word))  # not the, which both have
    assert second == sorted({"blue", "fish", "whale", "sea"}, key=lambda word: (-weight(word, 1), word))
    assert naming_words(["12", "3"], np.array([0, 1]), 2) == [[], []]


def test_a_word_that_is_as_frequent_elsewhere_does_not_name_a_cluster() -> None:
    texts = [
        f"{noun} and {other}"
        for noun, other in (("cat", "dog"), ("cat", "cow"), ("pin", "code"), ("pin", "card"))
        for _ in range(2)
    ]
    texts = [text.replace(" and ", f" {'and ' * (1 + (k < 2))}") for k, text in enumerate(texts)]
    (first, second) = naming_words(texts, np.array([0] * 4 + [1] * 4), 2)
    assert set(first) == {"cat", "dog", "cow"}
    assert set(second) == {"pin", "code", "card"}
    same = naming_words(["and too", "and too"], np.array([0, 1]), 2)  # better a poor name than none
    assert [sorted(one) for one in same] == [["and", "too"]] * 2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: isotrope.duplicates(TEXTS, threshold=2), "a threshold is a cosine"),
        (lambda: isotrope.cluster(TEXTS, "bundled", clusters=99), "clusters must be from 1 to 60"),
        (lambda: isotrope.duplicates(TEXTS, output="x.csv"), "must end in .parquet"),
        (lambda: isotrope.paraphrases(["", None]), "no sentences in it"),
    ],
)
def test_mistakes_are_said(call: Any, message: str) -> None:
    with pytest.raises(IsotropeError, match=message):
        call()
