"""The folder of a run: whether it can be used, who is using it, and its settings. Imports nothing slow."""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isotrope.io.errors import IsotropeError, as_typed, reason
from isotrope.io.names import RUN as RUN

if TYPE_CHECKING:
    from isotrope.recipes.schema import Recipe

LOG = "log.jsonl"
FROZEN = "frozen"  # what frozen encoders make of the text
UNFINISHED = ("checkpoint-*", "teacher", FROZEN, "draw-*")  # what took long and is of use until the run is done


def check_run(folder: Path, *, resume: bool, settings: str = RUN) -> None:
    """Refuses to start a run where something is, and to resume one where nothing is.

    Hidden files are in nobody's way: a run that was killed before it had written its settings leaves one.
    """
    if resume and not (folder / settings).is_file():
        raise IsotropeError(f"{folder}: nothing to resume (no {settings} in it)")
    if folder.is_file():
        raise IsotropeError(f"{folder}: a file, not a folder; choose another folder")
    if not resume and folder.exists() and any(not path.name.startswith(".") for path in folder.iterdir()):
        resumed = f"resume that run ({as_typed('resume=True')})" if (folder / settings).is_file() else "move it away"
        raise IsotropeError(f"{folder}: exists already; {resumed}, or choose another folder")


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Makes the folder and keeps other processes out of it. The lock is the system's: it ends with the process."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise IsotropeError(f"{folder}: can't be created ({reason(error)})") from error
    if os.name == "nt":  # has no locks of this kind
        yield
        return
    import fcntl

    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
            os.close(descriptor)
            raise IsotropeError(f"{folder}: in use by another process; wait for it to end, or stop it") from error
        # other errors: a file system without locks
    try:
        yield
    finally:
        os.close(descriptor)


def read_json(file: Path) -> dict[str, Any]:
    """A JSON file of a run, which holds an object; one line about it if it is damaged."""
    with undamaged(file):
        found = json.loads(file.read_text(encoding="utf-8"))
        if not isinstance(found, dict):
            raise TypeError
    return found


@contextmanager
def undamaged(file: Path) -> Iterator[None]:
    """One line where what is read from a file of a run makes no sense."""
    try:
        yield
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        why = reason(error) if isinstance(error, OSError) else "not the JSON that was written"
        raise IsotropeError(f"{file} is damaged ({why}); the run can't be resumed, start it in a new folder") from error


def stage_folders(folder: Path, recipe: Recipe) -> list[Path]:
    """Where each stage lies: a single one in the run folder itself."""
    count = len(recipe.stages)
    return [folder] if count == 1 else [folder / f"stage-{number + 1}" for number in range(count)]


def worth_resuming(folder: Path) -> bool:
    """Whether a run has something that took long; else nothing is lost if it is started again."""
    return any(path for name in (*UNFINISHED, "encoder") for path in folder.rglob(name))


def tidy(folder: Path) -> None:
    """Removes what only a run that goes on needs of a stage: checkpoints, what frozen encoders made of the text."""
    for name in UNFINISHED:
        for path in folder.glob(name):
            shutil.rmtree(path, ignore_errors=True)


def differences(before: Any, now: Any, path: str = "") -> list[str]:
    """`training.seed 1 -> 2` for each place in which two nested settings differ."""
    if isinstance(before, dict) and isinstance(now, dict):
        keys = dict.fromkeys([*before, *now])
        return [line for key in keys for line in differences(before.get(key), now.get(key), f"{path}.{key}".strip("."))]
    if isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        pairs = enumerate(zip(before, now, strict=True))
        return [line for i, (old, new) in pairs for line in differences(old, new, f"{path}.{i}")]
    return [] if before == now else [f"{path} {before!r} -> {now!r}"]
