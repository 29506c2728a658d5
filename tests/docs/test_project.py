"""What the project says about itself agrees with itself."""

from __future__ import annotations

import json
import re

import pytest
import yaml

import isotrope

from .pages import ROOT


def test_one_version() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f'version = "{isotrope.__version__}"' in project
    newest = re.search(r"^## (\S+) \((\d{4}-\d\d-\d\d)\)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)
    assert newest is not None
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert (citation["version"], str(citation["date-released"])) == newest.groups() == (isotrope.__version__, newest[2])
    assert {"cff-version", "message", "title", "authors"} <= citation.keys()


@pytest.mark.parametrize("file", sorted((ROOT / ".github" / "workflows").glob("*.yml")), ids=lambda file: file.stem)
def test_workflows_call_what_there_is(file) -> None:
    jobs = yaml.safe_load(file.read_text(encoding="utf-8"))["jobs"]
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
    for job in jobs.values():
        assert set(job.get("needs", "").split()) <= jobs.keys()
        called = re.findall(r"\bmake ([a-z]+)", " ".join(step.get("run", "") for step in job["steps"]))
        assert set(called) <= targets


def test_issue_forms_are_whole() -> None:
    for file in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"):
        form = yaml.safe_load(file.read_text(encoding="utf-8"))
        assert file.name == "config.yml" or ({"name", "description", "body"} <= form.keys() and form["body"])


def test_the_notebook_is_one() -> None:
    notebook = json.loads((ROOT / "examples" / "notebook.ipynb").read_text(encoding="utf-8"))
    assert notebook["nbformat"] == 4
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])
