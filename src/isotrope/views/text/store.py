"""Wordings that were made before, on disk: nothing is made twice, and a stopped run goes on where it was.

One SQLite file. A chunk of wordings is one transaction of its write-ahead log: whole or absent, whatever moment the
process is killed at. Several processes may read and write at once.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from isotrope.io.errors import IsotropeError
from isotrope.text.cache import cache_folder
from isotrope.views.text.base import Outcome, TextView

FILE = "views.sqlite"
PATIENCE = 60  # seconds to wait for another process that is writing
AT_ONCE = 500  # keys in one question: SQLite takes at least 999


class Store:
    """Outcomes by text and by the parameters of the view."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or cache_folder()
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._base = _connect(self.folder / FILE)
        except (OSError, sqlite3.Error) as error:
            raise IsotropeError(
                f"{self.folder}: can't keep views there ({error}); set ISOTROPE_CACHE to another folder"
            ) from error

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *error: object) -> None:
        self._base.close()

    def of(self, view: TextView) -> Shelf:
        """The part of the store that belongs to one view."""
        return Shelf(self._base, view.parameters)


class Shelf:
    """What one view, with these very parameters, has made."""

    def __init__(self, base: sqlite3.Connection, parameters: dict[str, Any]) -> None:
        self._base = base
        self._digest = parameters_digest(parameters)

    def find(self, texts: Sequence[str]) -> dict[str, Outcome]:
        """Those of the texts that are there."""
        keys = {self._key(text): text for text in texts}
        found = {}
        for start in range(0, len(keys), AT_ONCE):
            part = list(keys)[start : start + AT_ONCE]
            marks = ",".join("?" * len(part))
            for key, wording, flaw in self._base.execute(
                f"SELECT key, wording, flaw FROM views WHERE key IN ({marks})", part
            ):
                found[keys[key]] = Outcome(wording, flaw)
        return found

    def add(self, made: Mapping[str, Outcome], *, replace: bool = False) -> None:
        """All of them, or none. What is there already, say from another process, stays unless told otherwise."""
        rows = [(self._key(text), outcome.wording, outcome.flaw) for text, outcome in made.items()]
        otherwise = "REPLACE" if replace else "IGNORE"
        try:
            with self._base:
                self._base.execute("BEGIN IMMEDIATE")  # waits its turn; a lock that is widened later can fail at once
                self._base.executemany(f"INSERT OR {otherwise} INTO views VALUES (?, ?, ?)", rows)
        except sqlite3.Error as error:
            raise IsotropeError(f"the cache of views can't be written ({error}); is the disk full?") from error

    def _key(self, text: str) -> bytes:
        return hashlib.blake2b(self._digest + text.encode(), digest_size=16).digest()


def parameters_digest(parameters: dict[str, Any]) -> bytes:
    """16 bytes; the order of the names does not matter."""
    told = json.dumps(parameters, sort_keys=True, ensure_ascii=False)
    return hashlib.blake2b(told.encode(), digest_size=16).digest()


def _connect(file: Path) -> sqlite3.Connection:
    base = sqlite3.connect(file, timeout=PATIENCE, isolation_level=None)
    base.execute("PRAGMA journal_mode = WAL")
    base.execute("PRAGMA synchronous = NORMAL")
    columns = "key BLOB PRIMARY KEY, wording TEXT NOT NULL, flaw TEXT NOT NULL"
    base.execute(f"CREATE TABLE IF NOT EXISTS views ({columns}) WITHOUT ROWID")
    return base
