"""What an encoder was trained on, and which test sentences are in it.

The papers train on test sentences, without their labels; the tables mark where that is so.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from isotrope.io.errors import IsotropeError
from isotrope.io.names import BASELINE, RUN
from isotrope.text.arrays import open_table
from isotrope.text.corpus import ABOUT, KEYS
from isotrope.text.hashes import hash_texts

ROWS_AT_ONCE = 2**20


def is_run(folder: str | Path) -> bool:
    """Whether a folder is that of a training run."""
    return (Path(folder) / RUN).is_file()


def run_settings(run: Path) -> dict[str, Any]:
    """The settings that a run was started with."""
    try:
        settings: dict[str, Any] = json.loads((run / RUN).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise IsotropeError(f"{run / RUN}: can't be read ({error}); give {run / 'encoder'} instead") from error
    return settings


def run_corpora(run: Path) -> list[Path]:
    """The folders of the text that a run trained on, one per stage."""
    places = [run / "corpus", *sorted(run.glob("stage-*/corpus"))]
    return [corpus for corpus in places if (corpus / ABOUT).is_file()]


def run_text(run: Path) -> list[str]:
    """A fingerprint of the text of each stage of a run."""
    return [json.loads((corpus / ABOUT).read_text(encoding="utf-8"))["fingerprint"] for corpus in run_corpora(run)]


def training_text(model: str | Path) -> list[Path] | None:
    """Folders with the keys of all text that an encoder was trained or fitted on, by its run and the runs before it.

    None if it is unknown. What a model of another origin has read is in none of them.
    """
    path = Path(model)
    if (path / BASELINE).is_file():
        fitted = [path] if len(open_table(path / KEYS)) else []
        before = json.loads((path / BASELINE).read_text(encoding="utf-8"))["model"]
        known = before and Path(before).resolve() != path.resolve()  # it may have replaced what it was made from
        return [*fitted, *((training_text(before) if known else None) or [])] or None
    run = next((folder for folder in (path, path.parent) if is_run(folder)), None)
    if run is None or (run == path.parent and path.name != "encoder"):
        return None
    corpora = run_corpora(run)
    return [*corpora, *(training_text(str(run_settings(run)["model"])) or [])] if corpora else None


def count_trained_on(sentences: Iterable[str], corpora: Sequence[Path]) -> int:
    """How many of the distinct sentences occur, letter for letter, in any of the corpora of training runs."""
    wanted = np.unique(hash_texts([text.strip() for text in sentences]).view(np.int64))  # the keys of a corpus
    found = np.zeros(len(wanted), dtype=bool)
    for folder in corpora:
        keys = open_table(folder / KEYS)  # (rows, text columns)
        for start in range(0, len(keys), ROWS_AT_ONCE):
            found |= np.isin(wanted, keys[start : start + ROWS_AT_ONCE])
    return int(found.sum())
