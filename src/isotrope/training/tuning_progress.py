"""What a tuning has planned, tried and found so far, kept in its folder: after a kill the same goes on."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from isotrope.io.atomic import whole_or_nothing
from isotrope.io.errors import IsotropeError
from isotrope.text.sources import shown
from isotrope.training.halving import Planned
from isotrope.training.leaderboard import Trial
from isotrope.training.run_folder import RUN, differences, locked, read_json, undamaged

PROGRESS = "tuning.json"


@dataclass
class Progress:
    """What has happened so far, kept in a file: after a kill the same goes on."""

    file: Path
    per_text: float | None = None  # seconds in which the untuned encoder encodes one
    before: float | None = None  # its score on the development set
    spent: float = 0.0
    rungs: tuple[tuple[Planned, ...], ...] = ()
    began: Mapping[str, float] | None = None  # seconds that were spent when a trial began
    trials: tuple[Trial, ...] = ()
    beside: str | None = None

    @classmethod
    def open(cls, folder: Path) -> Progress:
        """That of a folder; a new one where there is none yet."""
        if not (folder / PROGRESS).is_file():
            return cls(folder / PROGRESS)
        with undamaged(folder / PROGRESS):
            values = {**read_json(folder / PROGRESS), "file": folder / PROGRESS}
            if missing := {one.name for one in fields(cls)} - values.keys():
                raise KeyError(missing)
            return TypeAdapter(cls).validate_python(values)

    def __post_init__(self) -> None:
        self._noted = time.monotonic()

    def note(self, **changes: Any) -> None:
        """Takes changes, counts the time since the last note, and writes it all down."""
        for name, value in changes.items():
            setattr(self, name, value)
        now = time.monotonic()
        self.spent, self._noted = self.spent + now - self._noted, now
        values = {name: value for name, value in asdict(self).items() if name != "file"}
        with whole_or_nothing(self.file) as path:
            path.write_text(json.dumps(values, indent=2) + "\n", encoding="utf-8")


@contextmanager
def opened(folder: Path, settings: dict[str, Any], *, resume: bool) -> Iterator[Progress]:
    """Makes the folder, or checks that the settings of the one there are the same; locks it meanwhile.

    A new one in which nothing could be tried is removed, so that the corrected call finds the place free.
    """
    with locked(folder):
        if resume and (differing := differences(read_json(folder / RUN), settings)):
            raise IsotropeError(f"{folder}: settings differ from the original run: {shown(differing, '; ')}")
        if not resume:
            with whole_or_nothing(folder / RUN) as path:
                path.write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8")
        progress = Progress.open(folder)
        try:
            yield progress
        except IsotropeError:
            if not resume and not progress.rungs:
                shutil.rmtree(folder)
            raise
        finally:
            if folder.is_dir():
                progress.note()
