from __future__ import annotations

from pathlib import Path

import pytest

SENTENCES = [
    "A dog runs in the park.",
    "The man is playing a guitar.",
    "Two women walk along the beach.",
    "She reads a book by the window.",
    "Turn off the light before you leave the house.",
    "What is the best way to learn a language?",
]


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of its own for each test."""
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("ISOTROPE_CACHE", str(folder))
    return folder


@pytest.fixture
def sentences() -> list[str]:
    return list(SENTENCES)
