"""Pictures: a matplotlib figure that no window belongs to, and its file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from isotrope.io.errors import IsotropeError


def new_figure(inches: tuple[float, float]) -> Any:
    """An empty figure."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise IsotropeError("a picture needs matplotlib: pip install 'isotrope[plots]'") from error
    return Figure(figsize=inches, layout="constrained")


def save(figure: Any, path: str | Path) -> None:
    """Writes it in the format that the ending of `path` names."""
    try:
        figure.savefig(path, dpi=200)
    except (OSError, ValueError) as error:
        raise IsotropeError(f"{path}: the picture can't be written ({' '.join(str(error).split())[:150]})") from error
