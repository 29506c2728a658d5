from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from isotrope.io.atomic import check_output, whole_or_nothing
from isotrope.io.errors import IsotropeError


def fail(path: Path, failure: BaseException) -> None:
    with whole_or_nothing(path) as partial:
        partial.write_text("half")
        raise failure


def test_the_file_appears_at_the_end_only(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    with whole_or_nothing(path) as partial:
        partial.write_text("half")
        assert partial.parent == path.parent  # a rename within one folder can't be interrupted
        assert partial.suffix == path.suffix
        assert not path.exists()
    assert path.read_text() == "half"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt, SystemExit])
def test_nothing_stays_after_a_failure_and_what_was_there_before_does(
    tmp_path: Path, failure: type[BaseException]
) -> None:
    path = tmp_path / "x.txt"
    path.write_text("before")
    with pytest.raises(failure):
        fail(path, failure())
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_disk_error_is_told_in_words(tmp_path: Path) -> None:
    with pytest.raises(IsotropeError, match=r"x\.txt: can't be written \(No space left on device\)"):
        fail(tmp_path / "x.txt", OSError(28, "No space left on device"))
    assert not list(tmp_path.iterdir())


def test_a_path_that_could_not_be_written_is_refused(tmp_path: Path) -> None:
    there = tmp_path / "there.npy"
    there.write_text("")
    (tmp_path / "folder.npy").mkdir()
    endings = (".npy", ".parquet")
    for path, message in {
        tmp_path / "x.txt": r"must end in \.npy or \.parquet",
        tmp_path / "folder.npy": "a folder",
        tmp_path / "no" / "x.npy": "there is no folder '.*/no'",
        there: "exists already; give --force",
    }.items():
        with pytest.raises(IsotropeError, match=message):
            check_output(path, endings)
    check_output(there, endings, force=True)
    check_output(tmp_path / "NEW.NPY", endings)


def test_what_a_killed_process_left_behind_is_removed_and_what_a_living_one_writes_is_not(tmp_path: Path) -> None:
    path = tmp_path / "out [1].parquet"
    gone = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    left, busy, other = (
        tmp_path / f".{stem}.{process}.partial.parquet"
        for stem, process in (("out [1]", int(gone.stdout)), ("out [1]", os.getppid()), ("another", int(gone.stdout)))
    )
    for file in (left, busy, other):
        file.touch()
    with whole_or_nothing(path) as partial:
        partial.write_text("whole")
    assert not left.exists()
    assert busy.exists()
    assert other.exists()
    assert path.read_text() == "whole"
