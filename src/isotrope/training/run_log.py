"""The log of a run: figures as JSON lines."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from isotrope.io.atomic import whole_or_nothing
from isotrope.io.errors import IsotropeError, reason
from isotrope.training.checkpoints import writing


class RunLog:
    """Figures as JSON lines, null for those that are not finite."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def cut(self, step: int | None) -> None:
        """Drops the lines after a checkpoint's step, which will come again; all of them where there is none."""
        if self.file.is_file():
            kept = [] if step is None else [line for found, line in read_log_lines(self.file) if found <= step]
            with whole_or_nothing(self.file) as path:
                path.write_text("".join(line + "\n" for line in kept))

    def append(self, step: int, figures: Mapping[str, float]) -> None:
        """One line."""
        finite = {name: value if math.isfinite(value) else None for name, value in figures.items()}
        with writing(self.file), self.file.open("a") as stream:
            stream.write(json.dumps({"step": step, **finite}) + "\n")


def read_log(file: Path) -> list[dict[str, Any]]:
    """The lines of figures."""
    return [json.loads(line) for _, line in read_log_lines(file)]


def read_log_lines(file: Path) -> Iterator[tuple[int, str]]:
    """The lines of a log, each with its step. The last one may have been cut off by a kill, and is left out then."""
    try:
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        raise IsotropeError(f"{file}: can't be read ({reason(error)})") from error
    for number, line in enumerate(lines, 1):
        step = _step(line)
        if step is not None:
            yield step, line
        elif number < len(lines):
            raise IsotropeError(f"{file}, line {number}: not a line of figures with a step; delete it and resume again")


def _step(line: str) -> int | None:
    try:
        return int(json.loads(line)["step"])
    except (ValueError, KeyError, TypeError):
        return None
