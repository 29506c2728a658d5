"""What is said about the text of a run before its first step."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from isotrope.io.errors import IsotropeError
from isotrope.recipes.schema import Training
from isotrope.text import bundled_sentences
from isotrope.text.corpus import Corpus
from isotrope.training import stage_text
from isotrope.training.run import train

TEXTS = bundled_sentences()[:40]
DOCUMENTS = [" ".join(TEXTS[start : start + 4]) for start in range(0, 40, 4)]
SETTINGS: dict[str, Any] = {"training.batch_size": 4, "training.max_length": 32}


def test_documents_that_do_not_fit_are_split_and_the_counts_are_said(
    small: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = train(DOCUMENTS, "simcse", small, tmp_path / "run", steps=1, set=SETTINGS)
    assert (run.corpus["rows"], run.corpus["documents"]) == (40, 10)
    assert "the given text: 10 documents, 40 sentences (split because 10 of the first 10" in capsys.readouterr().err


def test_what_is_cut_off_is_counted(small: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    train(DOCUMENTS, "simcse", small, tmp_path / "run", steps=1, set=SETTINGS, unit="document")
    said = capsys.readouterr().err
    assert "10 texts, not split into sentences" in said
    assert "10 of 10 texts are longer than 32 tokens; the rest of them is not read" in said
    short = [f"Dog {i} barks." for i in range(9)]
    train([DOCUMENTS[0], *short], "simcse", small, tmp_path / "one", steps=1, set=SETTINGS, unit="document")
    assert "1 of 10 texts is longer than 32 tokens; the rest of it is not read" in capsys.readouterr().err


def test_of_a_large_corpus_some_rows_are_looked_at(
    small: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stage_text, "MEASURED_ROWS", 5)
    train(DOCUMENTS, "simcse", small, tmp_path / "run", steps=1, set=SETTINGS, unit="document")
    assert "5 of 5 texts checked are longer than 32 tokens" in capsys.readouterr().err


def test_sentences_that_fit_are_left_alone(small: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    train(TEXTS, "simcse", small, tmp_path / "run", steps=1, set=SETTINGS | {"training.max_length": 128})
    said = capsys.readouterr().err
    assert "40 texts, not split into sentences" in said
    assert "longer than" not in said


def test_documents_that_are_cropped_stay_whole(small: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = train(DOCUMENTS, "crop", small, tmp_path / "run", steps=1, set=SETTINGS)
    assert run.corpus["rows"] == 10
    said = capsys.readouterr().err
    assert "10 texts, not split into sentences" in said
    assert "longer than" not in said  # a crop of the end is read as well as one of the beginning


def test_pairs_are_not_split(small: str, tmp_path: Path) -> None:
    pairs = [{"source": text, "target": text} for text in DOCUMENTS]
    with pytest.raises(IsotropeError, match="recipe parallel reads pairs, which are never split; leave out unit="):
        train(pairs, "parallel", small, tmp_path / "run", teacher="bundled", unit="sentence")


@pytest.mark.parametrize(("per_device", "rows"), [(True, 32), (False, 4)])
def test_a_batch_may_be_that_of_each_process(per_device: bool, rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "8")
    assert stage_text.whole_batch(Training(batch_size=4, batch_per_device=per_device)) == rows


def test_a_messy_table_is_read_as_asked_and_what_is_wrong_with_it_is_said(
    small: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = "".join(f'{i};{text};"<p>{TEXTS[-i]}</p>"\n' for i, text in enumerate(TEXTS)) + ";;N/A\n;;\n"
    (tmp_path / "tickets.csv").write_text("id;Subject;Body\n" + rows, encoding="utf-8-sig")
    options: dict[str, Any] = {"steps": 1, "set": SETTINGS, "unit": "document", "columns": "Subject,Body", "join": ". "}
    run = train(tmp_path / "tickets.csv", "simcse", small, tmp_path / "a", **options)
    said = capsys.readouterr().err
    assert "read 42 rows: 1 blank, 40 with HTML, 1 placeholder such as 'N/A'" in said
    assert "Warning: HTML is learnt" in said
    assert (run.survey["markup"], run.survey["blank"]) == (40, 1)
    run = train(tmp_path / "tickets.csv", "simcse", small, tmp_path / "b", strip_html=True, device="cpu", **options)
    assert "HTML" not in capsys.readouterr().err
    assert Corpus(tmp_path / "b" / "corpus").rows([0])["text"] == [f"{TEXTS[0]}. {TEXTS[0]}"]
    assert run.as_json()["survey"]["markup"] == 0
