"""Leases: one holder at a time, and none for ever."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from isotrope.io import leases
from isotrope.io.atomic import holder
from isotrope.io.leases import leased, remove_abandoned

NOBODY = 2**22 + 1  # a process number beyond those that Linux gives out


def test_one_has_it_until_it_is_given_back(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "job"
    with leased(file) as first, leased(file) as second:
        assert (first, second) == (True, False)
    assert not file.exists()
    with leased(file) as third:
        assert third


def test_of_many_at_once_one_gets_it(tmp_path: Path) -> None:
    got: list[bool] = []
    start, end = threading.Barrier(8), threading.Barrier(8)

    def ask() -> None:
        start.wait()
        with leased(tmp_path / "job") as mine:
            got.append(mine)
            end.wait()

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(got) == [False] * 7 + [True]


def test_it_names_its_holder_from_its_first_moment_on(tmp_path: Path) -> None:
    """Killed just as it takes a lease, a process leaves one that can be taken over at once."""
    program = f"""
import os, signal
from pathlib import Path
from isotrope.io.leases import leased
link = os.link
def dying(old, new):
    link(old, new)
    os.kill(os.getpid(), signal.SIGKILL)
os.link = dying
with leased(Path({str(tmp_path / "job")!r})):
    pass
"""
    assert subprocess.run([sys.executable, "-c", program]).returncode == -9
    with leased(tmp_path / "job") as mine:
        assert mine
    assert not list(tmp_path.iterdir())


def test_where_a_file_can_have_one_name_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "link", refused)
    with leased(tmp_path / "job") as first, leased(tmp_path / "job") as second:
        assert (first, second) == (True, False)
        assert (tmp_path / "job").read_text() == holder()
    assert not list(tmp_path.iterdir())


def test_that_of_a_process_that_has_ended_is_taken_over(tmp_path: Path) -> None:
    file = tmp_path / "job"
    file.write_text(f"{holder().partition('-')[0]}-{NOBODY}")
    with leased(file) as mine:
        assert mine
        assert file.read_text() == holder()


def test_what_is_left_of_one_that_has_ended_is_removed_and_no_other(tmp_path: Path) -> None:
    for name, of in (("ended", f"{holder().partition('-')[0]}-{NOBODY}"), ("mine", holder()), ("there", "another-1")):
        (tmp_path / name).write_text(of)
        remove_abandoned(tmp_path / name)
    remove_abandoned(tmp_path / "none")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine", "there"]


def test_another_machine_is_believed_until_it_is_silent_for_long(tmp_path: Path) -> None:
    file = tmp_path / "job"
    file.write_text("another-1")
    with leased(file) as mine:
        assert not mine
    long_ago = time.time() - leases.SILENCE - 1
    os.utime(file, (long_ago, long_ago))
    with leased(file) as mine:
        assert mine
    assert not list(tmp_path.iterdir())


def test_the_holder_is_heard_of(tmp_path: Path, monkeypatch: object) -> None:
    file, ended = tmp_path / "job", threading.Event()
    file.write_text("mine")
    os.utime(file, (0, 0))
    beats = leases.HEARTBEAT
    try:
        leases.HEARTBEAT = 0.01
        thread = threading.Thread(target=leases._keep, args=(file, ended))
        thread.start()
        while file.stat().st_mtime < 1:
            time.sleep(0.01)
    finally:
        leases.HEARTBEAT = beats
        ended.set()
        thread.join()
    assert file.stat().st_mtime > 1
