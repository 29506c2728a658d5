from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import isotrope
from isotrope.evaluation.data.bitexts import CODES, Bitext, load_tatoeba
from isotrope.evaluation.data.places import MissingDataError
from isotrope.evaluation.tasks import tatoeba
from isotrope.evaluation.tasks.tatoeba import evaluate_tatoeba, find_both_ways
from isotrope.io.errors import IsotropeError


def naive_nearest(queries: np.ndarray, candidates: np.ndarray) -> list[int]:
    """The number of the candidate with the highest cosine, for each query."""

    def cosine(a: np.ndarray, b: np.ndarray) -> float:
        return float(a @ b) / math.sqrt(float(a @ a) * float(b @ b))

    return [max(range(len(candidates)), key=lambda i: cosine(query, candidates[i])) for query in queries]


@given(st.integers(0, 2**32 - 1), st.integers(1, 30), st.sampled_from([2, 1000]))
def test_found_is_what_a_search_through_all_finds(seed: int, pairs: int, at_once: int) -> None:
    generator = np.random.default_rng(seed)
    x = generator.normal(size=(pairs, 4)).astype(np.float32)
    y = x + generator.normal(size=(pairs, 4)).astype(np.float32)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tatoeba, "QUERIES_AT_ONCE", at_once)
        found = find_both_ways(x, y, Bitext([f"t{i}" for i in range(pairs)], [f"e{i}" for i in range(pairs)]))
    assert found.to_english.tolist() == [n == i for i, n in enumerate(naive_nearest(x, y))]
    assert found.from_english.tolist() == [n == i for i, n in enumerate(naive_nearest(y, x))]
    assert found.accuracy == pytest.approx(100 * np.mean([found.to_english, found.from_english]))


def test_another_sentence_of_the_same_text_is_as_good() -> None:
    x = np.array([[1, 0], [0, 1], [1, 0.1]], np.float32)
    y = np.array([[1, 0.1], [0, 1], [1, 0]], np.float32)
    assert find_both_ways(x, y, Bitext(["a", "b", "c"], ["Hi.", "Go.", "Hi."])).to_english.tolist() == [True] * 3
    assert find_both_ways(x, y, Bitext(["a", "b", "c"], ["Hi.", "Go.", "Hey."])).to_english.tolist() == [
        False,
        True,
        False,
    ]


def test_a_vector_of_zeros_finds_nothing_and_one_that_is_no_number_is_an_error() -> None:
    x, y = np.zeros((2, 2), np.float32), np.ones((2, 2), np.float32)
    found = find_both_ways(x, y, Bitext(["a", "b"], ["c", "d"]))
    assert not found.to_english.any()
    with pytest.raises(IsotropeError, match="vectors that are not numbers"):
        find_both_ways(x, y * np.nan, Bitext(["a", "b"], ["c", "d"]))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "parallel").mkdir()
    rows = [("deu", "Rain.", "Regen."), ("fra", "Sun.", "Soleil."), ("deu", "Snow.", "Schnee.")]
    lines = "".join("\t".join(row) + "\n" for row in rows)
    (tmp_path / "parallel" / "tatoeba_laser.tsv").write_text("lang\ten\ttext\n" + lines)
    return tmp_path


def test_languages_by_three_letters_or_two(data: Path) -> None:
    german = {"deu": Bitext(["Regen.", "Schnee."], ["Rain.", "Snow."])}
    assert load_tatoeba("deu", data=data) == load_tatoeba("de", data=data) == german
    assert load_tatoeba(data=data) == german | {"fra": Bitext(["Soleil."], ["Sun."])}
    with pytest.raises(IsotropeError, match=r"no language 'deo' \(did you mean 'deu'\?\); it has: deu, fra"):
        load_tatoeba("deo", data=data)


def test_what_is_not_there_is_said(tmp_path: Path, data: Path) -> None:
    (tmp_path / "empty").mkdir()
    for folder in (None, tmp_path / "empty"):
        with pytest.raises(
            MissingDataError, match=r"no parallel/tatoeba_laser\.tsv\[\.gz\] in a data folder; name a folder with data="
        ):
            load_tatoeba(data=folder)
    (data / "parallel" / "tatoeba_laser.tsv").write_text("lang\ten\ttext\n")
    with pytest.raises(IsotropeError, match="just a header"):
        load_tatoeba(data=data)


def test_the_figure_is_the_mean_over_languages(data: Path) -> None:
    encoder = isotrope.load("bundled", device="cpu")
    bitexts = load_tatoeba(data=data)
    result = evaluate_tatoeba(encoder, bitexts)
    assert result.accuracy == pytest.approx(
        np.mean([evaluate_tatoeba(encoder, {name: one}).accuracy for name, one in bitexts.items()])
    )
    same = evaluate_tatoeba(encoder, {"eng": Bitext(["Rain.", "Snow."], ["Rain.", "Snow."])})
    assert same.as_json() == {
        "accuracy": 100.0,
        "pairs": 2,
        "languages": {"eng": {"to_english": 100.0, "from_english": 100.0, "pairs": 2}},
    }


def test_the_real_set_has_its_published_size(shared_data: Path) -> None:
    bitexts = load_tatoeba(data=shared_data)
    assert len(bitexts) == 112
    assert sum(len(one.texts) for one in bitexts.values()) == 88_877
    assert sum(len(one.texts) == 1000 for one in bitexts.values()) == 72
    assert set(CODES.values()) <= set(bitexts)
