"""Values that were made before, by key, in one SQLite file: the store behind every cache.

A transaction is whole or absent, whatever moment the process is killed at, and several processes may use one file.
Every entry has a checksum. What is damaged is computed again: an entry that does not fit its checksum is removed, and a
file that SQLite can't read, or that has another format, is replaced by an empty one. A line of the log says so.
"""

from __future__ import annotations

import logging
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from isotrope.io.errors import IsotropeError, reason
from isotrope.io.hashes import digest

log = logging.getLogger(__name__)

FORMAT = 1  # of the file; SQLite keeps it in the header
TABLE = "CREATE TABLE entries (key BLOB PRIMARY KEY, value BLOB NOT NULL, checksum BLOB NOT NULL)"
PATIENCE = 60.0  # seconds to wait for another process that is writing
AT_ONCE = 500  # keys in one query: SQLite takes at least 999
CHECKSUM = 8  # bytes
SQLITE_ERROR = 1  # a statement makes no sense: ours do, unless the file is damaged

Answer = TypeVar("Answer")


class Store:
    """Bytes by keys. Without a file they are in memory. Files are for their owner only: they may hold private text."""

    def __init__(self, file: Path | None = None) -> None:
        self.file = file
        self._base: sqlite3.Connection | None = None
        self._run(lambda base: None)

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Lets go of the file."""
        if self._base is not None:
            self._base.close()
            self._base = None

    def find(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """The values of those keys that are there, and whole."""
        wanted = list(keys)
        found = self._run(lambda base: [row for part in _parts(wanted) for row in _select(base, part)])
        whole = {key: value for _, key, value, checksum in found if _is_whole(key, value, checksum)}
        if damaged := [(row,) for row, key, *_ in found if key not in whole]:
            log.warning("%s: damaged, so computed again: %d of its entries", self.file, len(damaged))
            self._run(lambda base: _write(base, "DELETE FROM entries WHERE rowid = ?", damaged))
        return whole

    def add(self, entries: Mapping[bytes, bytes], *, replace: bool = False) -> None:
        """All of them, or none. What is there already, say from another process, stays unless `replace`."""
        rows = [(key, value, _checksum(key, value)) for key, value in entries.items()]
        insert = f"INSERT OR {'REPLACE' if replace else 'IGNORE'} INTO entries VALUES (?, ?, ?)"
        self._run(lambda base: _write(base, insert, rows))

    def _run(self, ask: Callable[[sqlite3.Connection], Answer]) -> Answer:
        """Asks the database; where it is damaged, once more of a new one."""
        try:
            try:
                return ask(self._connection())
            except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
                if self.file is None or not _is_damage(error):
                    raise
                self._begin_anew(reason(error))
                return ask(self._connection())
        except (sqlite3.Error, OSError) as error:
            raise IsotropeError(
                f"{self.file}: the cache can't be used ({reason(error)}); "
                "make room for it, or set ISOTROPE_CACHE to another folder"
            ) from error

    def _connection(self) -> sqlite3.Connection:
        if self._base is None:
            if self.file is not None:
                _make_private(self.file)
                self._inode = self.file.stat().st_ino
            self._base = sqlite3.connect(self.file or ":memory:", timeout=PATIENCE, isolation_level=None)
            self._base.text_factory = bytes  # damaged text is no reason to fail
            _prepare(self._base)
        return self._base

    def _begin_anew(self, why: str) -> None:
        self.close()
        assert self.file is not None
        with suppress(FileNotFoundError):
            if self.file.stat().st_ino != self._inode:
                return  # another process has done it
        log.warning("%s: damaged, so started again from nothing (%s)", self.file, why)
        for ending in ("", "-journal", "-wal", "-shm"):
            self.file.with_name(self.file.name + ending).unlink(missing_ok=True)


class _OtherFormatError(sqlite3.DatabaseError):
    """A database, but not one of this format."""


def _is_damage(error: sqlite3.DatabaseError | UnicodeDecodeError) -> bool:
    """Whether SQLite can't make sense of the file, or has words for it that can't be decoded. A full disk, a lock or
    missing rights are an `OperationalError` with a code of its own.
    """
    if isinstance(error, sqlite3.OperationalError):
        return getattr(error, "sqlite_errorcode", None) == SQLITE_ERROR  # Python 3.10 has no codes
    return isinstance(error, UnicodeDecodeError) or type(error) in (sqlite3.DatabaseError, _OtherFormatError)


def _make_private(file: Path) -> None:
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))
    if file.stat().st_mode & 0o077:
        file.chmod(0o600)
    os.utime(file)  # used now, whether anything is added or not


def _prepare(base: sqlite3.Connection) -> None:
    """Makes the table of a new file, and refuses any other content."""
    base.execute("PRAGMA synchronous = NORMAL")
    if _is_ours(base):
        return
    with _transaction(base):  # only one process makes the table
        if _is_ours(base):
            return
        if base.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            raise _OtherFormatError("another format")
        base.execute(TABLE)
        base.execute(f"PRAGMA user_version = {FORMAT}")


def _is_ours(base: sqlite3.Connection) -> bool:
    (version,) = base.execute("PRAGMA user_version").fetchone()
    tables = base.execute("SELECT sql FROM sqlite_master WHERE sql NOT NULL").fetchall()  # its own index has none
    return version == FORMAT and tables == [(TABLE.encode(),)]


@contextmanager
def _transaction(base: sqlite3.Connection) -> Iterator[None]:
    base.execute("BEGIN IMMEDIATE")  # waits its turn; a lock that is widened later can fail at once
    with base:  # commits, or rolls back
        yield


def _select(base: sqlite3.Connection, keys: list[bytes]) -> list[tuple[int, bytes, bytes, bytes]]:
    marks = ",".join("?" * len(keys))
    return base.execute(f"SELECT rowid, key, value, checksum FROM entries WHERE key IN ({marks})", keys).fetchall()


def _write(base: sqlite3.Connection, statement: str, rows: Sequence[tuple[Any, ...]]) -> None:
    with _transaction(base):
        base.executemany(statement, rows)


def _parts(keys: list[bytes]) -> Iterator[list[bytes]]:
    return (keys[start : start + AT_ONCE] for start in range(0, len(keys), AT_ONCE))


def _checksum(key: bytes, value: bytes) -> bytes:
    return digest(key + value, CHECKSUM)


def _is_whole(key: object, value: object, checksum: object) -> bool:
    return isinstance(key, bytes) and isinstance(value, bytes) and checksum == _checksum(key, value)
