from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from isotrope.io.errors import IsotropeError
from isotrope.text.files import read_table
from isotrope.text.tables import check_table, write_table

FILES = ("x.tsv", "x.jsonl", "x.tsv.gz", "x.JSONL.gz", "x.parquet")
line = st.text(st.characters(codec="utf-8", exclude_characters="\t\r\n\0"), min_size=1)


@pytest.mark.parametrize("name", FILES)
@given(st.lists(st.lists(st.tuples(line, line), max_size=4)))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20, deadline=None)
def test_what_is_written_is_read(tmp_path: Path, name: str, chunks: list[list[tuple[str, str]]]) -> None:
    with write_table(tmp_path / name, ("a", "b")) as write:
        for chunk in chunks:
            write(chunk)
    rows = [{"a": a, "b": b} for chunk in chunks for a, b in chunk]
    file = tmp_path / name
    assert file.stat().st_size == 0 or list(read_table(file)) == rows
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", FILES)
def test_equal_rows_make_equal_bytes(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    files = []
    for folder in (tmp_path / "one", tmp_path / "other"):
        folder.mkdir()
        with write_table(folder / name, ("a", "b")) as write:
            write([("ä", "b")])
        files.append((folder / name).read_bytes())
        monkeypatch.setattr("time.time", lambda: 2e9)
    assert files[0] == files[1]


def test_breaks_become_spaces_in_tab_separated_files(tmp_path: Path) -> None:
    with write_table(tmp_path / "x.tsv.gz", ("a", "b")) as write:
        write([("one\ttwo", "three\r\nfour")])
    assert gzip.decompress((tmp_path / "x.tsv.gz").read_bytes()) == b"a\tb\none two\tthree  four\n"


@pytest.mark.parametrize("name", FILES)
def test_an_error_on_the_way_leaves_nothing(tmp_path: Path, name: str) -> None:
    def fail() -> None:
        with write_table(tmp_path / name, ("a",)) as write:
            write([("x",)])
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["x", "x.txt", "x.gz", "x.csv", "x.parquet.gz", "tsv"])
def test_other_kinds_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(IsotropeError, match=r"must end in \.tsv, \.jsonl \(each also \.gz\) or \.parquet"):
        check_table(tmp_path / name)


@pytest.mark.parametrize("name", FILES)
def test_a_path_is_checked_beforehand(tmp_path: Path, name: str) -> None:
    check_table(tmp_path / name)
    (tmp_path / name).touch()
    with pytest.raises(IsotropeError, match="exists already"):
        check_table(tmp_path / name)
    check_table(tmp_path / name, force=True)
    with pytest.raises(IsotropeError, match="there is no folder"):
        check_table(tmp_path / "no" / name)
