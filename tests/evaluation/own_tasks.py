"""Tasks of somebody's own, as `package.module:Name` finds them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from isotrope.evaluation.tasks import Figure, Outcome, Task, TaskSpec


def case(encode: Any, *, word: str = "rain") -> float:
    """How far a word in capitals is from itself."""
    lower, upper = encode([word, word.upper()])
    return float(np.abs(lower - upper).max())


def norms(encode: Any) -> dict[str, float]:
    """Two figures."""
    lengths = np.linalg.norm(encode(["One.", "Two.", "Three."]), axis=1)
    return {"shortest": float(lengths.min()), "longest": float(lengths.max())}


def wordy(encode: Any) -> str:
    """Not a figure."""
    return "good"


class Dimensions(Task):
    """A task as a class, with a setting."""

    def __init__(self, *, factor: int = 1) -> None:
        self.factor = factor
        self.sentences = ["One.", "Two."]
        self.items = "2 sentences"

    def measure(self, vectors: Any, batch_size: int = 64) -> Outcome:
        dim = self.factor * vectors.encode(list(self.sentences), batch_size=batch_size).shape[1]
        return Outcome({"dim": Figure(dim)}, {"dim": dim})


class Rows(TaskSpec):
    """A spec that reads data and has a heading of its own."""

    kind: str = "rows"
    times: int = 1

    heading = "Mine"
    metrics = ("rows",)
    unit = ""

    def open(self, data: Path | None = None) -> Task:
        return RowsTask(self, data)


class RowsTask(Task):
    def __init__(self, spec: Rows, data: Path | None) -> None:
        super().__init__(spec, "some rows", ["One.", "One.", "Two."])
        self.found = spec.times * len(list(data.iterdir())) if data else 0

    def measure(self, vectors: Any, batch_size: int = 64) -> Outcome:
        return Outcome({"rows": Figure(self.found)}, {"rows": self.found})


class NoTask:
    """Measures nothing."""
