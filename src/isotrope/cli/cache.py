"""`isotrope cache`: what is kept on disk so that it need not be made again, and how to be rid of it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from isotrope.cli.console import many
from isotrope.io.errors import IsotropeError, nearest
from isotrope.text.cache import cache_folder

PARTS = {  # name -> its files, and what they are
    "vectors": ("vectors/*.sqlite*", "vectors of evaluated encoders, with the figures of classifiers on them"),
    "views": ("views.sqlite*", "other wordings of sentences"),
}
app = typer.Typer(help="Show what is kept so that it need not be made again, and clear it.", rich_markup_mode="rich")


@app.callback(invoke_without_command=True)
def cache(context: typer.Context) -> None:
    """Show what is kept so that it need not be made again, and how large it is."""
    if context.invoked_subcommand is None:
        typer.echo(str(cache_folder()))
        for name, (_, about) in PARTS.items():
            files = _files(name)
            typer.echo(f"  {name:8} {_megabytes(files):>10} in {many(len(files), 'file')}: {about}")


@app.command()
def clear(
    part: Annotated[str | None, typer.Argument(metavar="[PART]", help="vectors or views.", show_default="both")] = None,
) -> None:
    """Remove what is kept; it is made again when it is needed.

    [dim]Example:[/] isotrope cache clear vectors
    """
    if part is not None and part not in PARTS:
        raise IsotropeError(f"no part '{part}' of the cache{nearest(part, PARTS)}; choose from {', '.join(PARTS)}")
    for name in [part] if part else PARTS:
        files = _files(name)
        typer.echo(f"{name}: {_megabytes(files)} removed")
        for file in files:
            file.unlink()


def _files(part: str) -> list[Path]:
    return sorted(cache_folder().glob(PARTS[part][0]))


def _megabytes(files: list[Path]) -> str:
    return f"{sum(file.stat().st_size for file in files) / 1e6:,.1f} MB"
