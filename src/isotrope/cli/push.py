"""`isotrope push`: an encoder to the Hugging Face Hub, with its card."""

import os
from pathlib import Path
from typing import Annotated

import typer

from isotrope.cli import console
from isotrope.cli.console import many
from isotrope.cli.options import Data, Force
from isotrope.io.errors import IsotropeError
from isotrope.io.hub import hub_answers


def push(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run (train or tune) or of an encoder.")],
    name: Annotated[str, typer.Argument(metavar="ORG/NAME", help="The repository; created if it does not exist.")],
    private: Annotated[bool, typer.Option("--private", help="Make it a private repository.")] = False,
    revision: Annotated[
        str | None, typer.Option(help="A branch; created if it does not exist.", show_default="main")
    ] = None,
    tasks: Annotated[
        str, typer.Option(help="Tasks to measure for the card, separated by commas; '' for none.")
    ] = "bundled",
    data: Data = None,
    dry_run: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Write what would be pushed to this folder; send nothing.")
    ] = None,
    force: Force = False,
) -> None:
    """Push the encoder of a run to the Hugging Face Hub, with a model card; no text, log or report is sent.

    [dim]Example:[/] isotrope push runs/tickets my-org/tickets --dry-run pushed
    """
    if not dry_run:
        if os.environ.get("HF_HUB_OFFLINE"):
            raise IsotropeError("HF_HUB_OFFLINE is set, so nothing can be pushed; unset it, or give --dry-run FOLDER")
        if not hub_answers():
            raise IsotropeError("the Hugging Face Hub does not answer; try again later, or give --dry-run FOLDER")
    with console.waiting("Starting"):
        from isotrope.reporting.publishing import push as send

    with console.waiting("Writing the card" if dry_run else f"Pushing to {name}"):
        measured = [one.strip() for one in tasks.split(",") if one.strip()]
        done = send(
            run, name, private=private, revision=revision, tasks=measured, data=data, dry_run=dry_run, force=force
        )
    sent = f"{many(len(done.files), 'file')}, {done.bytes / 1e6:,.1f} MB"
    if not dry_run:
        typer.echo(f"{done.address}: {sent}")
        return
    branch = f", branch {revision}" if revision else ""
    typer.echo(f"Would be pushed to {name}{branch}{', private' if private else ''}: {sent}, in {dry_run}\n")
    for file in done.files:
        typer.echo(f"    {file}")
    typer.echo(f"\nThe card is {dry_run / 'README.md'}")
