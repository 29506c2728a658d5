"""Wordings that were made before: nothing is made twice, and a stopped run goes on where it was.

A chunk of wordings is one transaction: whole or absent, whatever moment the process is killed at.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from isotrope.io import store
from isotrope.io.cache import cache_folder
from isotrope.io.hashes import digest
from isotrope.views.text.base import Outcome, TextView

FILE = "views.sqlite"


class Store:
    """Outcomes by text and by the parameters of the view."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or cache_folder()
        self._store = store.Store(self.folder / FILE)

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *error: object) -> None:
        self._store.close()

    def of(self, view: TextView) -> Shelf:
        """The part of the store that belongs to one view."""
        return Shelf(self._store, view.parameters)


class Shelf:
    """What one view, with these very parameters, has made."""

    def __init__(self, entries: store.Store, parameters: dict[str, Any]) -> None:
        self._entries = entries
        self._digest = parameters_digest(parameters)

    def find(self, texts: Sequence[str]) -> dict[str, Outcome]:
        """Those of the texts that are there."""
        keys = {self._key(text): text for text in texts}
        return {keys[key]: Outcome(*json.loads(value)) for key, value in self._entries.find(keys).items()}

    def add(self, made: Mapping[str, Outcome], *, replace: bool = False) -> None:
        """All of them, or none. What is there already, say from another process, stays unless told otherwise."""
        rows = {self._key(text): [outcome.wording, outcome.flaw] for text, outcome in made.items()}
        self._entries.add({k: json.dumps(row, ensure_ascii=False).encode() for k, row in rows.items()}, replace=replace)

    def _key(self, text: str) -> bytes:
        return digest(self._digest + text.encode())


def parameters_digest(parameters: dict[str, Any]) -> bytes:
    """16 bytes; the order of the names does not matter."""
    return digest(json.dumps(parameters, sort_keys=True, ensure_ascii=False))
