"""`isotrope cache`: what is kept on disk so that it need not be made again, and how to remove it."""

from typing import Annotated

import typer

from isotrope.cli.console import many
from isotrope.io.cache import cache_contents, cache_folder, clear_cache

app = typer.Typer(help="Show and clear the results that are kept for reuse.", rich_markup_mode="rich")


@app.callback(invoke_without_command=True)
def cache(context: typer.Context) -> None:
    """Show the results that are kept for reuse, and their size."""
    if context.invoked_subcommand is None:
        typer.echo(str(cache_folder()))
        for part in cache_contents():
            size = _megabytes(part.size)
            typer.echo(f"  {part.name:8} {size:>10} in {many(len(part.files), 'file')}: {part.about}")


@app.command()
def clear(
    part: Annotated[str | None, typer.Argument(metavar="[PART]", help="vectors or views.", show_default="both")] = None,
) -> None:
    """Remove results from the cache; they are computed again when needed.

    [dim]Example:[/] isotrope cache clear vectors
    """
    for removed in clear_cache(part):
        typer.echo(f"{removed.name}: {_megabytes(removed.size)} removed")


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"
