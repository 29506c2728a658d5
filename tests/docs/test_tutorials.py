"""The scripts of the tutorials run, at a small size, and print what their pages say."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from isotrope.text import bundled_sentences

from .pages import ROOT

FOLDER = ROOT / "examples" / "tutorials"


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"tutorial_{name}", FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_each_has_a_page_that_shows_it_whole() -> None:
    for file in FOLDER.glob("*.py"):
        page = (ROOT / "docs" / "tutorials" / f"{file.stem}.md").read_text(encoding="utf-8")
        assert f'--8<-- "examples/tutorials/{file.name}"' in page


def test_tickets(capsys: pytest.CaptureFixture[str]) -> None:
    script("tickets").main(output="run")
    printed = capsys.readouterr().out
    assert "The encoder is untuned. There is too little text to judge the result: about 1,000 texts" in printed
    shown = printed[printed.index("\"I can't get") :]
    assert shown.strip() in (ROOT / "docs" / "tutorials" / "tickets.md").read_text(encoding="utf-8")
    assert Path("run/marked.parquet").exists()


def test_documents(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    texts = tmp_path / "texts"
    texts.mkdir()
    sentences = bundled_sentences()
    for number in range(16):
        (texts / f"{number}.txt").write_text(f"About {number}\n" + " ".join(sentences[number * 30 : number * 30 + 30]))
    script("documents").main(str(texts), "run", "1")
    printed = capsys.readouterr().out
    assert re.search(r"16 sections; .* the tuned encoder is: (better|worse|no clear difference)", printed)
    assert "Does it work for German?" in printed


def test_language(capsys: pytest.CaptureFixture[str]) -> None:
    script("language").main(output="run", steps="2")
    before, after = re.findall(r"(?:before|after): (-?\d\.\d\d)", capsys.readouterr().out)
    assert before == "0.06"
    assert -1 <= float(after) <= 1


def test_distil(capsys: pytest.CaptureFixture[str]) -> None:
    Path("text.txt").write_text("\n".join(bundled_sentences()[:128]), encoding="utf-8")
    script("distil").main("text.txt", "run", "2")
    printed = capsys.readouterr().out
    assert "22.57" in printed
    assert "56.90" in printed
    assert "5,289,984 parameters" in printed


def test_grading(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    Path("text.txt").write_text("\n".join(bundled_sentences()[:80]), encoding="utf-8")
    answers = iter(["0", "5", ""])
    monkeypatch.setattr("builtins.input", lambda question: next(answers))
    module = script("grading")
    pairs = module.worth_grading(bundled_sentences()[:80], 12)
    assert len(set(pairs)) == 12
    assert module.grade(pairs, Path("graded.csv")) == 2
    answers = iter([str(number % 6) for number in range(10)])
    assert module.grade(pairs, Path("graded.csv")) == 12  # goes on where it was
    module.main("text.txt", ".", "12")
    assert "12 pairs graded" in capsys.readouterr().out
