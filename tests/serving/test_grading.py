"""Which pairs are chosen, against looking at all of them; and the texts of files."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy.stats import rankdata

import isotrope
from isotrope.io.errors import IsotropeError
from isotrope.serving.grading import USES, choose_pairs
from isotrope.serving.uploads import texts_of
from isotrope.text import bundled_sentences

TEXTS = bundled_sentences()[:80]


@pytest.fixture(scope="module")
def two(encoder: isotrope.Encoder) -> list[Any]:
    return [encoder.encode(TEXTS), isotrope.load("small", device="cpu").encode(TEXTS)]


def test_two_models_pairs_are_where_they_disagree(two: list[Any]) -> None:
    few = [one[:9] for one in two]  # of so few texts every pair is a candidate
    every = list(combinations(range(9), 2))
    units = [one / np.linalg.norm(one, axis=1, keepdims=True) for one in few]
    ranks = [rankdata([float(one[i] @ one[j]) for i, j in every]) for one in units]
    apart = dict(zip(every, np.abs(ranks[0] - ranks[1]), strict=True))
    chosen = choose_pairs(few, 8)
    assert len({(one.first, one.second) for one in chosen}) == 8
    kinds = Counter(one.chosen_for for one in chosen)
    assert kinds == {"disagreement": 6, "range": 2}
    left = [apart[pair] for pair in every if pair not in {(one.first, one.second) for one in chosen}]
    mine = [apart[one.first, one.second] for one in chosen if one.chosen_for == "disagreement"]
    assert (
        min(mine) >= max(left)
        or max(Counter(text for one in chosen for text in (one.first, one.second)).values()) >= USES
    )
    for one in chosen:
        wanted = [float(unit[one.first] @ unit[one.second]) for unit in units]
        assert one.cosines == pytest.approx(wanted, abs=1e-5)


def test_of_many_texts_the_chosen_ones_disagree_more_than_others(two: list[Any]) -> None:
    chosen = choose_pairs(two, 40)
    assert chosen == choose_pairs(two, 40)
    assert chosen != choose_pairs(two, 40, seed=2)
    used = Counter(text for one in chosen for text in (one.first, one.second))
    assert max(used.values()) <= USES
    units = [one / np.linalg.norm(one, axis=1, keepdims=True) for one in two]
    every = list(combinations(range(len(TEXTS)), 2))
    ranks = [rankdata([float(one[i] @ one[j]) for i, j in every]) / len(every) for one in units]
    apart = dict(zip(every, np.abs(ranks[0] - ranks[1]), strict=True))
    mine = np.mean([apart[one.first, one.second] for one in chosen if one.chosen_for == "disagreement"])
    assert mine > np.quantile(list(apart.values()), 0.9)


def test_one_models_pairs_are_spread_over_its_range(two: list[Any]) -> None:
    chosen = choose_pairs(two[1:], 40)
    cosines = sorted(one.cosines[0] for one in chosen)
    unit = two[1] / np.linalg.norm(two[1], axis=1, keepdims=True)
    all_of_them = [float(unit[i] @ unit[j]) for i, j in combinations(range(len(TEXTS)), 2)]
    assert cosines[-1] == pytest.approx(max(all_of_them), abs=1e-5)
    tenths = np.histogram(cosines, bins=5, range=(cosines[0], cosines[-1]))[0]
    assert tenths.min() >= 3
    assert {one.chosen_for for one in chosen} == {"range"}


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_few_texts(two: list[Any], count: int) -> None:
    assert len(choose_pairs([one[:count] for one in two], 10)) == count * (count - 1) // 2


def test_the_route(client: Any) -> None:
    answer = client.post("/pairs", json={"texts": [*TEXTS, TEXTS[0]], "count": 12}).json()
    assert answer["models"] == ["bundled", "small"]
    assert len(answer["pairs"]) == 12
    assert all(one["first"] != one["second"] and len(one["cosines"]) == 2 for one in answer["pairs"])
    alone = client.post("/pairs", json={"texts": TEXTS, "models": ["small"], "count": 5}).json()
    assert [len(one["cosines"]) for one in alone["pairs"]] == [1] * 5
    for body, status in (
        ({"texts": ["x", "x"]}, 400),
        ({"texts": TEXTS, "models": []}, 422),
        ({"texts": TEXTS, "models": ["bundled", "small", "x"]}, 422),
        ({"texts": TEXTS, "models": ["nix"]}, 404),
        ({"texts": [str(i) for i in range(2049)]}, 413),
    ):
        assert client.post("/pairs", json=body).status_code == status


def test_texts_of_files(client: Any) -> None:
    rows = 'id;Body\n1;"Two\nlines"\n2;\n3;Another text\n4;Another text\n'
    found = client.post("/texts", json={"name": "x.csv", "content": "\ufeff" + rows}).json()
    assert found == {
        "texts": ["Two\nlines", "Another text"],
        "column": "Body",
        "columns": ["id", "Body"],
        "rows": 4,
        "left_out": 2,
    }
    assert texts_of("x.csv", rows, "id", most=3)["texts"] == ["1", "2", "3"]
    assert texts_of("x.jsonl", '{"a": 1, "text": "x"}\n\n{"text": null}', most=9)["texts"] == ["x"]
    assert texts_of("x.TXT", "one\r\n\r\ntwo\n", most=9)["texts"] == ["one", "two"]
    assert len(client.get("/texts/example").json()["texts"]) == 400
    for name, content in (
        ("x.pdf", "x"),
        ("x.csv", ""),
        ("x.csv.gz", "x"),
        ("x.jsonl", "x"),
        ("x.txt", "\n"),
        ("", "x"),
    ):
        with pytest.raises(IsotropeError):
            texts_of(name, content, most=9)
        refused = client.post("/texts", json={"name": name, "content": content})
        assert refused.status_code == 422
    with pytest.raises(IsotropeError, match="no column 'x'"):
        texts_of("x.csv", rows, "x", most=9)
