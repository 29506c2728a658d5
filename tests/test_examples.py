"""Every example runs, and does what it says."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

import isotrope
from isotrope import recipes

EXAMPLES = Path(__file__).parents[1] / "examples"
PAPERS = sorted((EXAMPLES / "papers").glob("*.py"))
OWN = sorted((EXAMPLES / "own_parts").glob("*.py"))
TUTORIALS = sorted((EXAMPLES / "tutorials").glob("*.py"))
INTEGRATIONS = sorted((EXAMPLES / "integrations").glob("*.py"))


def example(file: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The example as a module that `package.module:Name` finds."""
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, file.stem, module)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("file", PAPERS, ids=lambda file: file.stem)
def test_a_paper_in_one_file(file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    example(file, monkeypatch).main(2)
    before, after = (float(line.split()[-1]) for line in capsys.readouterr().out.splitlines())
    assert before != after
    assert abs(before - after) < 20


def test_the_step_of_bsl_begins_and_ends_small(monkeypatch: pytest.MonkeyPatch) -> None:
    slowly = example(EXAMPLES / "papers" / "bsl.py", monkeypatch).slowly  # without it the encoder got worse
    assert [round(slowly(done), 2) for done in (0, 0.1, 0.2, 0.6, 1)] == [0, 0.5, 1, 0.5, 0]


@pytest.mark.parametrize("file", [file for file in OWN if file.stem != "task"], ids=lambda file: file.stem)
def test_a_part_of_ones_own_from_python(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    example(file, monkeypatch).main(str(tmp_path / "run"), 2)
    again = recipes.load(tmp_path / "run" / "recipe.toml")  # what is written down names the code
    assert f"{file.stem}:" in recipes.to_toml(again)


@pytest.mark.parametrize("file", [file for file in OWN if file.stem != "task"], ids=lambda file: file.stem)
def test_the_toml_in_its_docstring(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = example(file, monkeypatch)
    _, _, toml = (module.__doc__ or "").partition("\n\n")
    (tmp_path / "mine.toml").write_text(toml, encoding="utf-8")
    assert recipes.foreign_code(tmp_path / "mine.toml")
    assert f"{file.stem}:" in recipes.to_toml(recipes.load(tmp_path / "mine.toml"))


def test_a_task_of_ones_own(monkeypatch: pytest.MonkeyPatch) -> None:
    module = example(EXAMPLES / "own_parts" / "task.py", monkeypatch)
    by_path = isotrope.evaluate(["bundled"], tasks=["task:answers"], cache=False)
    assert by_path.json() == isotrope.evaluate(["bundled"], tasks=[module.answers], cache=False).json()
    assert "Found in 1" in by_path.markdown()


def test_they_are_short() -> None:
    lines = {file.stem: len(file.read_text().splitlines()) for file in (*PAPERS, *OWN)}
    assert all(lines[file.stem] <= 75 for file in PAPERS), lines
    assert all(lines[file.stem] <= 55 for file in OWN), lines
    assert all(len(file.read_text().splitlines()) <= 80 for file in (*TUTORIALS, *INTEGRATIONS))


def test_the_notebook_prints_what_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    cells = json.loads((EXAMPLES / "notebook.ipynb").read_text(encoding="utf-8"))["cells"]
    names: dict[str, object] = {"__name__": "notebook"}
    for cell in (cell for cell in cells if cell["cell_type"] == "code"):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec("".join(cell["source"]), names)
        assert printed.getvalue() == "".join(cell["outputs"][0]["text"])
