"""Whether a run can begin or go on, from which checkpoint, and what is said when one can't be written."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from safetensors import SafetensorError

from isotrope.io.errors import IsotropeError

RUN = "run.json"  # what a run was begun with


def check_run(folder: Path, *, resume: bool) -> None:
    """Refuses to begin a run where something is, and to resume one where nothing is."""
    if resume and not (folder / RUN).is_file():
        raise IsotropeError(f"{folder}: nothing to resume (no {RUN} in it)")
    if folder.is_file():
        raise IsotropeError(f"{folder}: a file, where the run's folder is to be; choose another --output")
    if not resume and folder.exists() and any(folder.iterdir()):
        raise IsotropeError(f"{folder}: exists already; give --resume to go on with it, or another folder")


def last_checkpoint(run: Path) -> Path | None:
    """The newest whole `checkpoint-N`. The trainer writes `trainer_state.json` last: a folder without it, or with half
    of it, is what a kill or a full disk left behind, and is passed over.
    """
    numbered = [
        (int(found[1]), path)
        for path in run.glob("checkpoint-*")
        if (found := re.fullmatch(r"checkpoint-(\d+)", path.name))
    ]
    for _, path in sorted(numbered, reverse=True):
        try:
            json.loads((path / "trainer_state.json").read_text())
        except (OSError, ValueError):
            continue
        return path
    return None


@contextmanager
def whole_checkpoint(run: Path, step: int) -> Iterator[None]:
    """A checkpoint that can't be written to its end is removed: the room is needed."""
    folder = run / f"checkpoint-{step}"
    with writing(folder):
        try:
            yield
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """What keeps a file of a run from being written, a full disk above all, in one line."""
    try:
        yield
    except (OSError, RuntimeError, SafetensorError) as error:  # the last two are torch's and safetensors' words for it
        kept = last_checkpoint(path.parent)
        reason = " ".join(str(error).split())[:150]
        raise IsotropeError(
            f"{path} could not be written ({reason}); the last whole checkpoint is {kept.name if kept else 'none'}; "
            "make room, then go on with --resume"
        ) from error
