"""What a run notes about itself: complete for a report, and nothing that a resumed run depends on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import isotrope
from isotrope.text import bundled_sentences
from isotrope.training.automatic import UNJUDGED
from isotrope.training.record import RECORD, VERDICT, Record, read_verdict, versions

TEXTS = bundled_sentences()[:300]


@pytest.fixture(scope="module")
def run(tiny: str, tmp_path_factory: pytest.TempPathFactory) -> isotrope.Run:
    folder = tmp_path_factory.mktemp("record")
    (folder / "text.csv").write_text("title\n" + "\n".join(f'"{text}"' for text in TEXTS), encoding="utf-8")
    return isotrope.train(folder / "text.csv", model=tiny, output=folder / "run", column="title", steps=2)


def test_a_run_notes_its_text_its_versions_and_the_judges_figures(run: isotrope.Run) -> None:
    found = Record.read(run.folder)
    assert found is not None
    assert found.files == [str(run.folder.parent.resolve() / "text.csv")]
    assert found.text == {"column": "title", "columns": [], "join": None, "strip_html": False}
    assert found.versions == versions()
    assert found.versions["isotrope"] == isotrope.__version__
    assert found.seconds == round(run.seconds, 1)
    verdict = read_verdict(run.folder)
    assert verdict is not None
    assert run.outcome is not None
    assert (verdict["reasons"] or UNJUDGED) == run.outcome.because


@pytest.mark.parametrize("damage", ["", "[]", '{"seconds": 1, "other": 2}', '{"seco'])
def test_a_damaged_note_is_no_note_and_stops_nothing(run: isotrope.Run, damage: str, tmp_path: Path) -> None:
    for name in (RECORD, VERDICT):
        (tmp_path / name).write_text(damage)
    assert Record.read(tmp_path) is None
    assert read_verdict(tmp_path) is None


def test_what_was_noted_first_stays(run: isotrope.Run) -> None:
    before = json.loads((run.folder / RECORD).read_text())
    Record(seconds=0.0).write(run.folder)
    assert json.loads((run.folder / RECORD).read_text()) == before
