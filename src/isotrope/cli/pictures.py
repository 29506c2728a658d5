"""Pictures that commands draw of what they found."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Protocol

import typer

from isotrope.io.atomic import check_output, whole_or_nothing
from isotrope.io.errors import IsotropeError

PICTURES = (".png", ".svg", ".pdf")


class Drawable(Protocol):
    """A result that can be drawn."""

    def plot(self, path: str | Path) -> None:
        """Draws it; the ending of `path` is the format."""


def check_picture(path: Path | None, *, force: bool) -> None:
    """Refuses a picture that could not be drawn, before any work is done."""
    if path:
        check_output(path, PICTURES, force=force)
        if importlib.util.find_spec("matplotlib") is None:
            raise IsotropeError("a picture needs matplotlib: pip install 'isotrope[plots]'")


def draw(found: Drawable, path: Path | None) -> None:
    """The picture, if one is asked for."""
    if path:
        with whole_or_nothing(path) as partial:
            found.plot(partial)
        typer.echo(f"Picture: {path}", err=True)
