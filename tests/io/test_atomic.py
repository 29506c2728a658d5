from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from isotrope.io.atomic import _machine, check_output, whole_folder, whole_or_nothing
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
        there: "exists already; give force=True",
    }.items():
        with pytest.raises(IsotropeError, match=message):
            check_output(path, endings)
    check_output(there, endings, force=True)
    check_output(tmp_path / "NEW.NPY", endings)


@pytest.fixture(scope="module")
def gone() -> int:
    """A process number that nobody has."""
    ended = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    return int(ended.stdout)


def beside(
    path: Path, process: int, machine: str | None = None, kind: str = "partial", stem: str | None = None
) -> Path:
    return path.with_name(f".{stem or path.stem}.{machine or _machine()}-{process}-0a1b2c3d.{kind}{path.suffix}")


def test_what_a_killed_process_left_behind_is_removed_and_what_a_living_one_writes_is_not(
    tmp_path: Path, gone: int
) -> None:
    path = tmp_path / "out [1].parquet"
    left, busy, other = beside(path, gone), beside(path, os.getppid()), beside(path, gone, stem="another")
    for file in (left, busy, other):
        file.touch()
    with whole_or_nothing(path) as partial:
        partial.write_text("whole")
    assert not left.exists()
    assert busy.exists()
    assert other.exists()
    assert path.read_text() == "whole"


def test_what_another_container_writes_is_not_touched_until_it_is_a_day_old(tmp_path: Path, gone: int) -> None:
    path = tmp_path / "x.txt"
    new, old = beside(path, gone, "00000000"), beside(path, gone, "00000001")
    for file in (new, old):
        file.touch()
    os.utime(old, (1e9, 1e9))
    with whole_or_nothing(path) as partial:
        partial.write_text("whole")
    assert sorted(tmp_path.iterdir()) == sorted([new, path])


def test_two_writers_of_one_process_do_not_share_a_partial_file(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    with whole_or_nothing(path) as one, whole_or_nothing(path) as two:
        assert one != two
        one.write_text("one")
        two.write_text("two")
    assert path.read_text() == "one"  # the last to end
    assert list(tmp_path.iterdir()) == [path]


def test_a_name_that_is_too_long_is_told_in_words_and_one_that_just_fits_is_written(tmp_path: Path) -> None:
    with pytest.raises(IsotropeError, match=r"can't be written \(File name too long\)"):
        check_output(tmp_path / ("x" * 5000 + ".npy"), (".npy",))
    with pytest.raises(IsotropeError, match=r"can't be written \(File name too long\)"):
        fail(tmp_path / ("x" * 5000 + ".npy"), OSError(36, "File name too long"))
    longest = tmp_path / ("x" * 251 + ".npy")
    with whole_or_nothing(longest) as partial:
        partial.write_text("whole")
    assert list(tmp_path.iterdir()) == [longest]


def test_where_nothing_can_be_written_the_reason_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A read-only file system: there, removing the partial file fails as well."""

    def refuse(*_: object, **__: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(Path, "unlink", refuse)
    with pytest.raises(IsotropeError, match=r"x\.txt: can't be written \(Read-only file system\)"):
        fail(tmp_path / "x.txt", OSError(30, "Read-only file system"))


def test_the_content_is_on_the_disk_before_the_name_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path, seen = tmp_path / "x.txt", []
    sync = os.fsync
    monkeypatch.setattr(os, "fsync", lambda file: (seen.append(path.exists()), sync(file)))
    with whole_or_nothing(path) as partial:
        partial.write_text("whole")
    assert seen == [False, True]  # the file, and the folder after the rename


# -- folders -----------------------------------------------------------------------------------------------------------


def replace_folder(target: Path, failure: BaseException | None = None) -> None:
    with whole_folder(target, force=True) as made:
        (made / "inner").mkdir()
        (made / "inner" / "new.txt").write_text("new")
        if failure:
            raise failure


def content(folder: Path) -> list[str]:
    return sorted(str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file())


@pytest.fixture
def target(tmp_path: Path) -> Path:
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "old.txt").write_text("old")
    return folder


def test_a_folder_is_replaced_with_force_only(target: Path) -> None:
    with (
        pytest.raises(IsotropeError, match=r"model: exists already; .* replace it with force=True"),
        whole_folder(target),
    ):
        pass
    assert content(target.parent) == ["model/old.txt"]
    replace_folder(target)
    assert content(target.parent) == ["model/inner/new.txt"]
    replace_folder(target.parent / "deep" / "other")
    assert content(target.parent) == ["deep/other/inner/new.txt", "model/inner/new.txt"]


@pytest.mark.parametrize("failure", [KeyboardInterrupt(), OSError(28, "No space left on device")])
def test_a_failure_leaves_the_old_folder(target: Path, failure: BaseException) -> None:
    with pytest.raises(KeyboardInterrupt if isinstance(failure, KeyboardInterrupt) else IsotropeError):
        replace_folder(target, failure)
    assert content(target.parent) == ["model/old.txt"]
    assert list(target.parent.iterdir()) == [target]


@pytest.mark.parametrize("name", ["mkdir", "rename"])
def test_a_signal_as_a_call_returns_leaves_the_old_folder(
    target: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """The folder is made, or renamed, and the signal is heard before the next line."""
    real = getattr(Path, name)

    def ended(self: Path, *arguments: object, **more: object) -> object:
        real(self, *arguments, **more)
        if "partial" in str((self, *arguments)) or "replaced" in str((self, *arguments)):
            monkeypatch.undo()
            raise KeyboardInterrupt
        return None

    monkeypatch.setattr(Path, name, ended)
    with pytest.raises(KeyboardInterrupt):
        replace_folder(target)
    assert content(target.parent) == ["model/old.txt"]
    assert list(target.parent.iterdir()) == [target]


@pytest.mark.parametrize("renames", [0, 1, 2])
def test_a_kill_loses_neither_the_old_folder_nor_the_new_one(target: Path, renames: int) -> None:
    """It dies before the first rename, between the two, or after both; the next writer finds the one or the other."""
    program = f"""
import os, signal
from pathlib import Path
from isotrope.io.atomic import whole_folder
left, rename = {renames}, Path.rename
def dying(self, to):
    global left
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)
    left -= 1
    return rename(self, to)
Path.rename = dying
with whole_folder(Path({str(target)!r}), force=True) as made:
    (made / "new.txt").write_text("new")
os.kill(os.getpid(), signal.SIGKILL)
"""
    assert subprocess.run([sys.executable, "-c", program]).returncode == -9
    assert "new.txt" in {Path(name).name for name in content(target.parent)}
    with pytest.raises(IsotropeError, match="exists already"), whole_folder(target):
        pass
    assert content(target.parent) == ["model/new.txt" if renames == 2 else "model/old.txt"]


def test_of_a_folder_in_a_folder_that_is_half_made_a_kill_leaves_nothing_for_ever(target: Path) -> None:
    program = f"""
import os, signal
from pathlib import Path
from isotrope.io.atomic import whole_folder
with whole_folder(Path({str(target)!r}), force=True) as made, whole_folder(made, force=True) as inner:
    (inner / "new.txt").write_text("new")
    os.kill(os.getpid(), signal.SIGKILL)
"""
    assert subprocess.run([sys.executable, "-c", program]).returncode == -9
    with whole_folder(target, force=True) as made, whole_folder(made, force=True) as inner:
        (inner / "new.txt").write_text("new")
    assert list(target.parent.iterdir()) == [target]
    assert content(target) == ["new.txt"]
