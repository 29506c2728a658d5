"""Pairs of other columns as rows of their own: which, from where, and what is left out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from isotrope import recipes
from isotrope.io.errors import IsotropeError
from isotrope.recipes.schema import Stage
from isotrope.text.corpus import build_corpus
from isotrope.training.further_pairs import with_further_pairs


@pytest.fixture
def stage() -> Stage:
    return recipes.load("bsl-multilingual", {"views.also": [["view1", "view2"], ["view1", "source"]]}).stages[0]


def built(sources: list[Any], stage: Stage, folder: Path) -> list[tuple[str, str]]:
    """The pairs of the corpus, in their order."""
    corpus = build_corpus(with_further_pairs(sources, stage, None), stage.columns, folder / "corpus")
    rows = corpus.rows(range(len(corpus)))
    return list(zip(rows["source"], rows["target"], strict=True))


def row(**columns: str) -> dict[str, str]:
    return columns


def test_without_other_columns_nothing_is_added(stage: Stage, tmp_path: Path) -> None:
    assert built([[row(source="a", target="b")]], stage, tmp_path) == [("a", "b")]


def test_every_named_pair_comes_behind_the_rows(stage: Stage, tmp_path: Path) -> None:
    rows = [row(source="a", target="b", view1="c", view2="d"), row(source="e", target="f", view1="g", view2="h")]
    wanted = [("a", "b"), ("e", "f"), ("c", "d"), ("g", "h"), ("c", "a"), ("g", "e")]
    assert built([rows], stage, tmp_path) == wanted


def test_a_file_of_its_own_may_hold_them(stage: Stage, tmp_path: Path) -> None:
    first, second = tmp_path / "translations.jsonl", tmp_path / "back.tsv"
    first.write_text(json.dumps(row(source="a", target="b")))
    second.write_text("view1\tview2\nc\td\nsame\tsame \n")
    assert built([first, second], stage, tmp_path) == [("a", "b"), ("c", "d")]


def test_equal_blank_and_repeated_pairs_are_left_out(stage: Stage, tmp_path: Path) -> None:
    views = [("c", "d"), ("c", "d"), ("c ", " c"), ("", "x"), (None, None), ("c", "d")]
    rows = [{"source": "c", "target": f"t{k}", "view1": one, "view2": other} for k, (one, other) in enumerate(views)]
    assert built([rows], stage, tmp_path)[6:] == [("c", "d"), ("c", "d")]  # not those in a row


def test_the_stages_own_columns_must_be_there(stage: Stage) -> None:
    with pytest.raises(IsotropeError, match="columns source, target are missing"):
        with_further_pairs([[row(view1="c", view2="d")]], stage, None)


def test_a_row_that_is_no_text_is_an_error(stage: Stage, tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [{"source": "a", "target": "b", "view1": 3, "view2": "d"}]
    with pytest.raises(IsotropeError, match="column 'view1' holds 3, not text"):
        built([rows], stage, tmp_path)
