"""The examples in public docstrings run, and come out as they say."""

from __future__ import annotations

import doctest
import importlib

import pytest

MODULES = (
    "isotrope.evaluation.geometry.inspections",
    "isotrope.evaluation.geometry.layers",
    "isotrope.evaluation.label_free.comparison",
    "isotrope.evaluation.runner",
    "isotrope.evaluation.tasks",
)


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ISOTROPE_DATA", raising=False)
    found = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert found.attempted > 0
    assert found.failed == 0
