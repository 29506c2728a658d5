from __future__ import annotations

import sys
from pathlib import Path

import pytest

from isotrope.io.cache import cache_contents, cache_folder, clear_cache
from isotrope.io.errors import IsotropeError


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ISOTROPE_CACHE", str(tmp_path))
    (tmp_path / "vectors").mkdir()
    (tmp_path / "vectors" / "a.sqlite").write_bytes(bytes(1000))
    (tmp_path / "views.sqlite").write_bytes(bytes(500))
    return tmp_path


def test_what_is_kept_is_told_and_removed(cache: Path) -> None:
    assert {part.name: (part.files, part.size) for part in cache_contents()} == {
        "vectors": ([cache / "vectors" / "a.sqlite"], 1000),
        "views": ([cache / "views.sqlite"], 500),
    }
    assert [part.size for part in clear_cache("views")] == [500]
    assert [part.size for part in cache_contents()] == [1000, 0]
    assert [part.name for part in clear_cache()] == ["vectors", "views"]
    assert [part.size for part in cache_contents()] == [0, 0]
    with pytest.raises(IsotropeError, match=r"no part 'view' of the cache \(did you mean 'views'\?\)"):
        clear_cache("view")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have other folders")
def test_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ISOTROPE_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert cache_folder() == Path("/somewhere/isotrope")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder() == Path.home() / ".cache" / "isotrope"
    monkeypatch.setenv("ISOTROPE_CACHE", "~/mine")
    assert cache_folder() == Path.home() / "mine"
