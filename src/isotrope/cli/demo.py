"""`isotrope demo`: the bundled encoder before and after tuning, on the bundled text."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from isotrope.cli.console import print_table, waiting
from isotrope.cli.options import Device

if TYPE_CHECKING:
    from isotrope.demonstration import DemoRow


def demo(
    output: Annotated[Path | None, typer.Option(help="Folder to keep the runs in.", show_default="not kept")] = None,
    device: Device = None,
) -> None:
    """Tune the bundled encoder with three recipes on the bundled sentences, and measure it before and after."""
    with waiting("Starting"):
        from isotrope.demonstration import demo as demonstrate
    print_table(_table(demonstrate(output, device=device)))


def _table(rows: "list[DemoRow]") -> Table:
    best = max(row.spearman for row in rows)
    table = Table(title="The bundled encoder on the bundled test pairs", title_justify="left")
    for name in ("", "Pooling", "Spearman x 100", "Alignment", "Uniformity"):
        table.add_column(name, justify="left" if name in ("", "Pooling") else "right")
    for row in rows:
        shown = f"[bold]{row.spearman:.2f}[/]" if row.spearman == best else f"{row.spearman:.2f}"
        table.add_row(row.recipe, row.pooling, shown, f"{row.alignment:.2f}", f"{row.uniformity:.2f}")
    return table
