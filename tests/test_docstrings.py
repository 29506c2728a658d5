"""The examples in public docstrings run, and come out as they say."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

MODULES = (
    "isotrope.diagnosis",
    "isotrope.encoders.encoding",
    "isotrope.encoders.loading",
    "isotrope.evaluation.geometry.inspections",
    "isotrope.evaluation.geometry.layers",
    "isotrope.evaluation.label_free.comparing",
    "isotrope.evaluation.label_free.several",
    "isotrope.evaluation.ranking",
    "isotrope.evaluation.runner",
    "isotrope.evaluation.tasks",
    "isotrope.exporting.running",
    "isotrope.papers.published",
    "isotrope.papers.sweeping",
    "isotrope.recipes.library",
    "isotrope.encoders.similarity",
    "isotrope.reporting.markup",
    "isotrope.reporting.publishing",
    "isotrope.reporting.report",
    "isotrope.retrieval.clustering",
    "isotrope.retrieval.duplicates",
    "isotrope.retrieval.filters",
    "isotrope.retrieval.indexing",
    "isotrope.serving.app",
    "isotrope.serving.server",
    "isotrope.serving.uploads",
    "isotrope.text.markup",
    "isotrope.text.pairs",
    "isotrope.text.sentences",
    "isotrope.text.sources",
    "isotrope.io.durations",
    "isotrope.training.run",
    "isotrope.training.tuning",
    "isotrope.baselines.fitting",
    "isotrope.views.text.base",
    "isotrope.views.text.making",
)


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ISOTROPE_DATA", raising=False)
    found = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert found.attempted > 0
    assert found.failed == 0
