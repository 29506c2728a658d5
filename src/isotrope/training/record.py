"""What a run notes about itself at its end, for reports and model cards; nothing that a resumed run needs."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from isotrope.encoders.devices import default_device
from isotrope.evaluation.label_free.comparison import Comparison
from isotrope.io.atomic import whole_or_nothing
from isotrope.text.shaping import Shape
from isotrope.text.sources import HUB, Source

RECORD, VERDICT = "result.json", "verdict.json"
PACKAGES = ("isotrope", "torch", "transformers", "sentence-transformers", "numpy", "scikit-learn")


@dataclass(frozen=True)
class Record:
    """How a run ended, and on what it ran.

    Attributes:
        seconds: how long it took; of a resumed run, the last part.
        scores: Spearman x 100 on the development set, `before` and `after`.
        files: the files that the text came from, with their whole path; nothing for text in memory.
        text: which columns were read, and how: `column`, `columns`, `join`, `strip_html`.
        versions: of Python and the libraries that compute.
        device: where it ran.
        finished: when, in UTC.
    """

    seconds: float
    scores: dict[str, float] | None = None
    files: list[str] = field(default_factory=list)
    text: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    device: str = ""
    finished: str = ""

    @classmethod
    def of(
        cls,
        seconds: float,
        scores: dict[str, float] | None,
        sources: Sequence[Source],
        shape: Shape,
        column: str | None,
    ) -> Record:
        """That of a run which ends now."""
        files = [one for one in sources if isinstance(one, str | Path) and str(one) != "-"]
        text = {"column": column, "columns": list(shape.columns), "join": shape.join, "strip_html": shape.strip_html}
        return cls(
            round(seconds, 1),
            scores,
            [str(one) if str(one).startswith(HUB) else str(Path(one).resolve()) for one in files],
            text,
            versions(),
            default_device(),
            datetime.now(timezone.utc).isoformat(timespec="seconds"),
        )

    def write(self, folder: Path) -> None:
        """Into the run folder; what a run noted when it first ended stays."""
        if not (folder / RECORD).is_file():
            _write(folder / RECORD, asdict(self))

    @classmethod
    def read(cls, folder: Path) -> Record | None:
        """That of a run folder; None where it has none, or one that makes no sense: nothing depends on it."""
        found = _read(folder / RECORD)
        try:
            return None if found is None else cls(**found)
        except TypeError:
            return None


def versions() -> dict[str, str]:
    """Of Python and the libraries that compute, as they are now."""
    found = {name: _version(name) for name in PACKAGES}
    return {"python": platform.python_version(), **{name: one for name, one in found.items() if one}}


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:  # a copy of the source that nobody installed
        return ""


def write_verdict(folder: Path, found: Comparison | None) -> None:
    """Keeps what the judge found, so that nobody has to ask again; None: there was too little text."""
    _write(folder / VERDICT, {"found": found.as_dict() if found else None, "reasons": found.reasons if found else ""})


def read_verdict(folder: Path) -> Mapping[str, Any] | None:
    """`found`, the figures of `Comparison.as_dict`, and `reasons`, those in words; None where nothing was kept."""
    found = _read(folder / VERDICT)
    return found if found and {"found", "reasons"} <= found.keys() else None


def _write(file: Path, values: Mapping[str, Any]) -> None:
    with whole_or_nothing(file) as path:
        path.write_text(json.dumps(values, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _read(file: Path) -> dict[str, Any] | None:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None
