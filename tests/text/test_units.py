from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from isotrope.io.errors import IsotropeError
from isotrope.text import units
from isotrope.text.corpus import build_corpus
from isotrope.text.units import Unit, Units, check_unit

LONG = "A dog barks. A cat sleeps."
SHORT = ["It rains. It pours.", "The sun shines."]


def longer_than_20(texts: Sequence[str]) -> list[bool]:
    return [len(text) > 20 for text in texts]


def texts_of(unit: Unit, texts: Sequence[str | None], tmp_path: Path) -> tuple[list[str], Units]:
    used = Units(unit, longer_than_20)
    corpus = build_corpus([texts], ("text",), tmp_path / unit, units=used)
    found: dict[str, Any] = corpus.rows(range(len(corpus)))
    assert corpus.counts.documents == used.documents
    return found["text"], used


def test_sentences_and_documents(tmp_path: Path) -> None:
    given = [LONG, None, *SHORT]
    found, used = texts_of("sentence", given, tmp_path)
    assert found == ["A dog barks.", "A cat sleeps.", "It rains.", "It pours.", "The sun shines."]
    assert str(used) == "the given text: 3 documents, 5 sentences"
    found, used = texts_of("document", given, tmp_path)
    assert found == [LONG, *SHORT]
    assert not used.splits


def test_auto_splits_where_more_than_a_tenth_is_cut_off(tmp_path: Path) -> None:
    found, used = texts_of("auto", [LONG, *["Short. Yes."] * 8], tmp_path)
    assert len(found) == 18
    assert str(used) == (
        "the given text: 9 documents, 18 sentences "
        "(split because 1 of the first 9 have several sentences and are too long)"
    )
    found, used = texts_of("auto", [LONG, *["Short. Yes."] * 9], tmp_path)
    assert (len(found), used.splits) == (10, {})


def test_auto_leaves_long_sentences_and_short_documents_alone(tmp_path: Path) -> None:
    given = ["A sentence that is long without being two.", *SHORT]
    found, used = texts_of("auto", given, tmp_path)
    assert (found, used.splits) == (given, {})


def test_auto_decides_for_each_source_by_what_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(units, "LOOKED_AT", 2)
    documents, sentences = tmp_path / "documents.txt", tmp_path / "sentences.txt"
    documents.write_text("\n".join([LONG, LONG, "One. Two."]))
    sentences.write_text("\n".join([*SHORT, LONG]))
    used = Units("auto", longer_than_20)
    corpus = build_corpus([documents, sentences], ("text",), tmp_path / "corpus", units=used)
    assert len(corpus) == 6 + 3
    assert corpus.counts.documents == 3
    assert str(used).startswith(f"{documents}: 3 documents, 6 sentences (split because 2 of the first 2")


def test_only_these_three() -> None:
    with pytest.raises(IsotropeError, match=r"unknown unit 'sentences' \(did you mean 'sentence'\?\); one of"):
        check_unit("sentences")
