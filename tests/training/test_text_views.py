"""Columns that a recipe makes by itself, and one development set for each stage."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as parquet
import pytest

from isotrope import recipes
from isotrope.io.errors import IsotropeError
from isotrope.text import bundled_sentences
from isotrope.text.corpus import Corpus
from isotrope.text.units import Units
from isotrope.training.development import development_sets
from isotrope.training.run import train
from isotrope.training.text_views import with_text_views
from isotrope.views.text import TEXT_VIEWS

TEXTS = bundled_sentences()[:40]
WHOLE = Units("document", too_long=lambda texts: [False] * len(texts))
MADE = {"kind": "mlm", "rate": 0.2, "model": "bundled"}
ONE_VIEW: dict[str, Any] = {
    "views.first.column": "text",
    "views.second.column": "view1",
    "views.texts.view1": MADE,
    "training.batch_size": 8,
    "training.eval_steps": 2,
    "training.save_steps": 2,
}


def stage_of(settings: dict[str, Any]) -> Any:
    return recipes.load("bsl", settings).stages[0]


def test_a_run_on_plain_sentences_makes_the_column_that_its_recipe_reads(small: str, tmp_path: Path) -> None:
    run = tmp_path / "run"
    train(TEXTS, "bsl", small, run, steps=2, set=ONE_VIEW)
    table = parquet.read_table(run / "views-1.parquet").to_pydict()
    assert table["text"] == TEXTS
    assert sum(text != view for text, view in zip(TEXTS, table["view1"], strict=True)) > len(TEXTS) / 2
    rows = Corpus(run / "corpus").rows(range(len(TEXTS)))
    assert dict(zip(rows["text"], rows["view1"], strict=True)) == dict(zip(TEXTS, table["view1"], strict=True))


def test_text_that_has_the_column_already_is_taken_as_it_is(tmp_path: Path) -> None:
    rows = [{"text": text, "view1": "another wording"} for text in TEXTS]
    given, column = with_text_views([rows], stage_of(ONE_VIEW), None, tmp_path, WHOLE)
    assert given == [rows]
    assert column is None
    assert not list(tmp_path.iterdir())


def test_sources_with_and_without_the_column_stand_side_by_side(tmp_path: Path) -> None:
    """Such as raw sentences beside entailment pairs: Table 4 of paper 3."""
    pairs = [{"text": "A dog runs.", "view1": "An animal moves."}]
    given, _ = with_text_views([TEXTS, pairs], stage_of(ONE_VIEW), None, tmp_path, WHOLE)
    assert given == [tmp_path / "views-1.parquet", pairs]


def test_a_column_of_another_name_is_read(small: str, tmp_path: Path) -> None:
    file = tmp_path / "tickets.jsonl"
    file.write_text("".join(json.dumps({"body": text, "id": k}) + "\n" for k, text in enumerate(TEXTS)))
    train(file, "bsl", small, tmp_path / "run", steps=2, set=ONE_VIEW, column="body")
    assert sorted(Corpus(tmp_path / "run" / "corpus").rows(range(len(TEXTS)))["text"]) == sorted(TEXTS)


def test_documents_are_split_before_views_are_made_of_them(small: str, tmp_path: Path) -> None:
    documents = [" ".join(TEXTS[start : start + 4]) for start in range(0, 40, 4)]
    train(documents, "bsl", small, tmp_path / "run", steps=2, set=ONE_VIEW, unit="sentence")
    assert parquet.read_table(tmp_path / "run" / "views-1.parquet").to_pydict()["text"] == TEXTS


def test_a_recipe_that_makes_nothing_leaves_the_text_alone(tmp_path: Path) -> None:
    stage = recipes.load("sg-opt").stages[0]
    assert with_text_views([TEXTS], stage, "body", tmp_path, WHOLE) == ([TEXTS], "body")


def test_what_is_missing_to_make_a_view_is_said_in_one_line(small: str, tmp_path: Path) -> None:
    settings = ONE_VIEW | {"views.texts.view1": {"kind": "back-translation", "pivot": "xx", "engine": "bergamot"}}
    with pytest.raises(IsotropeError, match="xx") as told:
        train(TEXTS, "bsl", small, tmp_path / "run", steps=2, set=settings)
    assert "\n" not in str(told.value)
    assert not (tmp_path / "run").exists()


def test_a_wrong_field_of_a_wording_is_named_with_the_nearest() -> None:
    with pytest.raises(IsotropeError, match=r"views\.texts\.view1\.pivott: no such key \(did you mean 'pivot'\?\)"):
        recipes.load("bsl", {"views.texts.view1.pivott": "pt"})


WMT19 = {"pivot": "de", "model": "facebook/wmt19-{src}-{tgt}", "beam": 100}  # paper 1, A.2


def test_the_recipes_ask_for_the_papers_own_views() -> None:
    texts = recipes.load("bsl").stages[0].views.texts
    assert [texts[name].pivot for name in ("view1", "view2")] == ["de", "fr"]
    for name, kind, settings in (
        *((name, "back-translation", WMT19) for name in ("bt", "bt:official", "bt+sg-opt")),
        ("bsl:synonym", "synonyms", {"rate": 0.3}),
        ("bsl:mlm", "mlm", {"rate": 0.2, "model": "roberta-base"}),
    ):
        assert recipes.load(name).stages[0].views.texts["view1"] == TEXT_VIEWS.make(kind, **settings)


def test_development_sets_are_one_for_all_stages_or_one_for_each() -> None:
    assert development_sets(None, 2) == [None, None]
    assert development_sets("stsb", 2) == ["stsb", "stsb"]
    assert development_sets(["stsb-multi:de", Path("mine.tsv")], 2) == ["stsb-multi:de", "mine.tsv"]
    with pytest.raises(IsotropeError, match="2 development sets for 3 stage"):
        development_sets(["stsb", "stsb"], 3)
