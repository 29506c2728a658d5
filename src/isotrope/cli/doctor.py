"""`isotrope doctor`: what is installed, on what machine, and where models, data and caches are found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer
from rich.markup import escape
from rich.table import Table

from isotrope.cli.console import print_json, print_table, waiting
from isotrope.cli.options import AsJson

if TYPE_CHECKING:
    from isotrope.diagnosis import Finding

COLOURS = {"ok": "green", "absent": "yellow", "broken": "red"}


def doctor(as_json: AsJson = False) -> None:
    """Show versions, threads and device, and where models, data and caches are found.

    Exit code 1 if anything is broken.
    """
    with waiting("Checking"):
        from isotrope.diagnosis import doctor

        findings = doctor()
    if as_json:
        parts: dict[str, dict[str, dict[str, str]]] = {}
        for one in findings:
            parts.setdefault(one.part, {})[one.name] = {"found": one.found, "verdict": one.verdict}
        print_json(parts)
    else:
        print_table(_table(findings))
    if any(one.verdict == "broken" for one in findings):
        raise typer.Exit(1)


def _table(findings: list[Finding]) -> Table:
    table = Table("", "", "Found", "Verdict", box=None, show_header=False, padding=(0, 2, 0, 0))
    part = ""
    for one in findings:
        if one.part != part:
            part = one.part
            table.add_row(f"[bold]{part.capitalize()}[/]")
        verdict = f"[{COLOURS[one.verdict]}]{one.verdict}[/]"
        table.add_row(f"  {one.name}", verdict, escape(one.found))
    return table
