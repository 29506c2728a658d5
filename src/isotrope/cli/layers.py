"""`isotrope layers`: which layer, under which pooling, knows most about similarity."""

from __future__ import annotations

import importlib.util
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from isotrope.cli.console import print_json, print_table, waiting
from isotrope.cli.evaluate import load_tasks
from isotrope.cli.models import MODEL_HELP, check_models, load_transformer
from isotrope.cli.options import AsJson, Data, Device, Force, Split
from isotrope.io.atomic import check_output, whole_or_nothing
from isotrope.io.errors import IsotropeError

if TYPE_CHECKING:
    from isotrope.evaluation.layers import LayerMap

PICTURES = (".png", ".svg", ".pdf")


def layers(
    model: Annotated[str, typer.Argument(metavar="MODEL", help=MODEL_HELP)],
    task: Annotated[
        str, typer.Option(help="What to measure on; the names are those of `isotrope evaluate`.")
    ] = "bundled",
    data: Data = None,
    split: Split = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Picture to draw: .png, .svg or .pdf.")] = None,
    device: Device = None,
    as_json: AsJson = False,
    force: Force = False,
) -> None:
    """Map every layer of a model under [CLS], mean and max pooling.

    [dim]Example:[/] isotrope layers bundled --output layers.png
    """
    if output:
        check_output(output, PICTURES, force=force)
        if importlib.util.find_spec("matplotlib") is None:
            raise IsotropeError("a picture needs matplotlib: pip install 'isotrope[plots]'")
    pairs = load_tasks([task], data, split)[task]
    check_models([model])
    encoder = load_transformer(model, device=device)
    from isotrope.evaluation.layers import layer_map, plot

    with waiting(f"{model}: {task}"):
        found = layer_map(encoder, pairs)
    if output:
        with whole_or_nothing(output) as partial:
            plot(found, partial)
        typer.echo(f"Picture: {output}", err=True)
    if as_json:
        print_json(_as_json(found, task, split or "test"))
    else:
        print_table(_table(found, f"Spearman x 100 on {task}, {split or 'test'}"))
        pooling, layer = found.best
        typer.echo(f"Best: --pooling {pooling}@{layer} ({found.spearman[pooling][layer]:.2f})")


def _table(found: LayerMap, title: str) -> Table:
    table = Table("Layer", title=title, title_justify="left")
    for pooling in found.spearman:
        table.add_column(pooling, justify="right")
    for layer, figures in enumerate(zip(*found.spearman.values(), strict=True)):
        cells = ("-" if math.isnan(figure) else f"{figure:.2f}" for figure in figures)
        row = dict(zip(found.spearman, cells, strict=True))
        if found.best[1] == layer:
            row[found.best[0]] = f"[bold]{row[found.best[0]]}[/]"
        table.add_row(f"{layer}" if layer else "0 (embeddings)", *row.values())
    return table


def _as_json(found: LayerMap, task: str, split: str) -> dict[str, Any]:
    """Figures to two decimals; null where there is none."""
    pooling, layer = found.best
    figures = {
        name: [None if math.isnan(figure) else round(figure, 2) for figure in line]
        for name, line in found.spearman.items()
    }
    best = {"pooling": pooling, "layer": layer, "spearman": figures[pooling][layer]}
    return {"model": found.model, "task": task, "split": split, "spearman": figures, "best": best}
