from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from isotrope.io.errors import IsotropeError
from isotrope.text.corpus import build_corpus
from isotrope.text.shaping import Shape, shaped
from isotrope.text.sources import as_sources, read_sentences

ROWS = [
    {"Subject": "Dog", "Body": "<p>barks</p>", "id": 1},
    {"Subject": None, "Body": "sleeps &amp; eats", "id": 2},
    {"Subject": " Cat ", "Body": "", "id": 3},
    {"Subject": "", "Body": None, "id": 4},
]


def texts(source: Any, **options: Any) -> list[str]:
    (one,) = shaped(as_sources(source), Shape.of(**options))
    return list(read_sentences(one))


def test_columns_are_joined_or_read_one_by_one() -> None:
    for source in (ROWS, pd.DataFrame(ROWS)):
        joined = texts(source, columns="Subject,Body", join=": ")
        assert joined == ["Dog: <p>barks</p>", "sleeps &amp; eats", "Cat"]
        apart = texts(source, columns=["Subject", "Body"], strip_html=True)
        assert apart == ["Dog", "barks", "sleeps & eats", "Cat"]
    assert texts([{"text": "<b>x</b>", "n": 1}], strip_html=True) == ["x"]


def test_a_file_keeps_its_name_and_can_be_read_again(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a;b\nx;y\n;\n")
    sources = shaped(as_sources(tmp_path / "x.csv"), Shape.of("a,b", " "))
    assert as_sources(sources) == sources
    for folder in ("one", "two"):
        corpus = build_corpus(sources, ("text",), tmp_path / folder)
        assert corpus.sources == (str(tmp_path / "x.csv"),)
        assert (corpus.counts.rows, corpus.counts.blank) == (1, 1)
        assert corpus.rows([0]) == {"text": ["x y"]}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"columns": "Subject,Text"}, "the given text: no column 'Text'; it has: Subject, Body, id"),
        ({"columns": "Subject,id"}, "row 1: column 'id' holds 1, not text"),
        ({"columns": "Subject", "join": " "}, "join= joins several columns"),
    ],
)
def test_mistakes_are_said(options: dict[str, Any], message: str) -> None:
    with pytest.raises(IsotropeError, match=message):
        texts(ROWS, **options)
