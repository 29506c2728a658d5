from __future__ import annotations

import multiprocessing
import os
import signal
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isotrope.io import store as module
from isotrope.io.errors import IsotropeError
from isotrope.io.store import Store

FORK = multiprocessing.get_context("fork")
SOME = {bytes([i]) * 16: f"value {i}".encode() * 50 for i in range(200)}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "cache" / "x.sqlite"
    with Store(path) as store:
        store.add(SOME)
    return path


def test_what_was_added_is_found_by_another_store(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "AT_ONCE", 7)
    with Store(file) as store:
        assert store.find([*SOME, b"another"]) == SOME
        assert store.find([]) == {}
    assert list(file.parent.iterdir()) == [file]


def test_without_a_file_it_is_in_memory() -> None:
    with Store() as store:
        store.add(SOME)
        assert store.find(SOME) == SOME


def test_the_first_stays_unless_it_is_to_be_replaced(file: Path) -> None:
    key = next(iter(SOME))
    with Store(file) as store:
        store.add({key: b"second"})
        assert store.find([key]) == {key: SOME[key]}
        store.add({key: b"third"}, replace=True)
        assert store.find([key]) == {key: b"third"}


@pytest.mark.skipif(os.name != "posix", reason="needs modes")
def test_files_are_for_their_owner_only(file: Path) -> None:
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700
    file.chmod(0o644)
    Store(file).close()
    assert file.stat().st_mode & 0o777 == 0o600


# -- several processes -------------------------------------------------------------------------------------------------


def put(file: Path, keys: Sequence[bytes], value: bytes) -> None:
    with Store(file) as store:
        for key in keys:
            store.add({key: value})


def test_several_processes_begin_and_write_at_the_same_time(tmp_path: Path) -> None:
    file = tmp_path / "x.sqlite"
    keys = [[f"{writer} {i}".encode() for i in range(20)] + [b"shared"] for writer in range(6)]
    writers = [FORK.Process(target=put, args=(file, part, b"by %d" % i)) for i, part in enumerate(keys)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
    assert [writer.exitcode for writer in writers] == [0] * 6
    with Store(file) as store:
        there = store.find([key for part in keys for key in part])
    assert len(there) == 6 * 20 + 1
    assert all(there[key] == b"by %d" % i for i, part in enumerate(keys) for key in part if key != b"shared")


def killed_within_a_transaction(file: Path) -> None:
    with Store(file) as store:
        store.add({b"before": b"there"})
        base = store._connection()
        base.execute("BEGIN IMMEDIATE")
        base.execute("INSERT INTO entries VALUES (?, ?, ?)", (b"half", b"half", b""))
        os.kill(os.getpid(), signal.SIGKILL)


def test_a_kill_takes_what_was_not_finished_and_nothing_else(tmp_path: Path) -> None:
    process = FORK.Process(target=killed_within_a_transaction, args=(tmp_path / "x.sqlite",))
    process.start()
    process.join(60)
    assert process.exitcode == -signal.SIGKILL
    with Store(tmp_path / "x.sqlite") as store:
        assert store.find([b"before", b"half"]) == {b"before": b"there"}


# -- damage ------------------------------------------------------------------------------------------------------------


def check_that_it_goes_on(file: Path, caplog: pytest.LogCaptureFixture, lines: int = 1) -> dict[bytes, bytes]:
    """Nothing wrong is found, what is missing can be added, and at most one line says what happened."""
    with Store(file) as store:
        found = store.find(SOME)
        assert found.items() <= SOME.items()
        store.add({key: SOME[key] for key in SOME if key not in found})
        assert store.find(SOME) == SOME
    with Store(file) as store:
        assert store.find(SOME) == SOME
    assert len(caplog.messages) == lines
    assert all(line.startswith(f"{file}: damaged, so ") for line in caplog.messages)
    return found


def test_a_flipped_bit_costs_one_entry(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    content = bytearray(file.read_bytes())
    content[content.index(b"value 7") + 3] ^= 4
    file.write_bytes(content)
    assert len(check_that_it_goes_on(file, caplog)) == len(SOME) - 1


def test_vectors_take_little_more_room_than_their_numbers(tmp_path: Path) -> None:
    vectors = {f"{i:016}".encode(): bytes(4 * 256) for i in range(1000)}
    with Store(tmp_path / "x.sqlite") as store:
        store.add(vectors)
    assert (tmp_path / "x.sqlite").stat().st_size < 1.5 * 1000 * 4 * 256


def test_a_short_value_costs_one_entry(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    with closing(sqlite3.connect(file)) as base, base:
        base.execute("UPDATE entries SET value = x'00' WHERE key = ?", [bytes([7]) * 16])
    assert len(check_that_it_goes_on(file, caplog)) == len(SOME) - 1


@pytest.mark.parametrize("content", [b"this is no database, but it is long enough to be read as one " * 20, b"short"])
def test_another_file_is_begun_anew(file: Path, content: bytes, caplog: pytest.LogCaptureFixture) -> None:
    file.write_bytes(content)
    assert check_that_it_goes_on(file, caplog) == {}


@pytest.mark.parametrize("kept", [0, 1, 100, 4096, 5000, -4096])
def test_a_truncated_file_is_begun_anew(file: Path, kept: int, caplog: pytest.LogCaptureFixture) -> None:
    file.write_bytes(file.read_bytes()[:kept])
    assert check_that_it_goes_on(file, caplog, lines=int(kept not in (0, 1))) == {}  # which SQLite takes for a new one


def test_another_schema_is_begun_anew(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    file.unlink()
    with closing(sqlite3.connect(file)) as base, base:
        base.execute("CREATE TABLE views (key BLOB PRIMARY KEY, wording TEXT NOT NULL)")
    assert check_that_it_goes_on(file, caplog) == {}
    assert "another format" in caplog.text


def test_a_file_that_another_process_began_anew_is_not_removed_again(file: Path) -> None:
    with Store(file) as store:
        file.unlink()
        put(file, [b"fresh"], b"by another")
        store._begin_anew("damaged")
        assert store.find([b"fresh"]) == {b"fresh": b"by another"}


@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_any_damage_is_survived(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    file = tmp_path_factory.mktemp("damage") / "x.sqlite"
    put(file, [], b"")
    with Store(file) as store:
        store.add(SOME)
    content = bytearray(file.read_bytes())
    start = data.draw(st.integers(0, len(content) - 1))
    garbage = data.draw(st.binary(min_size=1, max_size=200))
    content[start : start + len(garbage)] = garbage
    file.write_bytes(content)
    with Store(file) as store:
        found = store.find(SOME)
        assert found.items() <= SOME.items()
        store.add({key: SOME[key] for key in SOME if key not in found})
        assert store.find(SOME).items() <= SOME.items()


@pytest.mark.parametrize("trouble", ["folder", "locked", "no folder"])
def test_what_is_no_damage_is_told_in_words(
    tmp_path: Path, trouble: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "x.sqlite"
    if trouble == "folder":
        file.mkdir()
    if trouble == "no folder":
        (tmp_path / "text").write_text("")
        file = tmp_path / "text" / "x.sqlite"
    with closing(sqlite3.connect(":memory:" if trouble != "locked" else file)) as other:
        if trouble == "locked":
            other.execute("BEGIN EXCLUSIVE")
            monkeypatch.setattr(module, "PATIENCE", 0)
        with pytest.raises(
            IsotropeError, match=r"x\.sqlite: the cache can't be used \([^\n]+\); make room for it, or set"
        ):
            Store(file)
    assert not caplog.messages
