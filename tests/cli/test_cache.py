from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import isotrope

Run = Callable[..., Any]


@pytest.fixture
def filled(cache: Path) -> Path:
    (cache / "vectors").mkdir()
    (cache / "vectors" / "a.sqlite").write_bytes(bytes(1_500_000))
    (cache / "vectors" / "b.sqlite-journal").write_bytes(bytes(100_000))
    (cache / "views.sqlite").write_bytes(bytes(2_000_000))
    (cache / "vectors" / "mine.txt").write_text("not the cache's")
    return cache


def test_it_shows_what_there_is(run: Run, filled: Path) -> None:
    done = run("cache")
    assert (done.code, done.err) == (0, "")
    where, vectors, views = done.out.splitlines()
    assert where == str(filled)
    assert vectors.split()[:6] == ["vectors", "1.6", "MB", "in", "2", "files:"]
    assert views.split()[:6] == ["views", "2.0", "MB", "in", "1", "file:"]
    assert [(one.name, len(one.files), one.size) for one in isotrope.cache_contents()] == [
        ("vectors", 2, 1_600_000),
        ("views", 1, 2_000_000),
    ]


def test_it_clears_one_part_or_all_and_nothing_of_anybody_else(run: Run, filled: Path) -> None:
    assert run("cache", "clear", "vectors").out == "vectors: 1.6 MB removed\n"
    assert sorted(file.name for file in filled.rglob("*")) == ["mine.txt", "vectors", "views.sqlite"]
    assert run("cache", "clear").out == "vectors: 0.0 MB removed\nviews: 2.0 MB removed\n"
    assert sorted(file.name for file in filled.rglob("*")) == ["mine.txt", "vectors"]


def test_a_part_that_there_is_not(run: Run, filled: Path) -> None:
    done = run("cache", "clear", "vector")
    assert done.code == 2
    assert "no part 'vector' of the cache (did you mean 'vectors'?); choose from vectors, views" in done.err
    assert (filled / "views.sqlite").is_file()


def test_a_folder_that_is_not_there_yet_is_an_empty_cache(run: Run, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("ISOTROPE_CACHE", str(tmp_path / "none"))
    assert "vectors      0.0 MB in 0 files" in run("cache").out
    assert run("cache", "clear").code == 0
    assert not (tmp_path / "none").exists()
