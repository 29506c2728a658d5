"""`isotrope inspect`: how the vectors of a text lie, in figures, in plain words and in a picture."""

from __future__ import annotations

import importlib.util
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from isotrope.cli.console import many, print_json, print_table, waiting
from isotrope.cli.evaluate import load_tasks
from isotrope.cli.layers import PICTURES
from isotrope.cli.models import MODEL_HELP, check_models, load_encoder
from isotrope.cli.options import AsJson, BatchSize, Column, Data, Device, Force
from isotrope.io.atomic import check_output, whole_or_nothing
from isotrope.io.errors import IsotropeError
from isotrope.text import read_sentences

if TYPE_CHECKING:
    from isotrope.evaluation.inspection import Inspection

CorpusHelp = "Your text: .txt, .csv, .tsv, .jsonl or .parquet, each also .gz; or - for stdin."
Seed = Annotated[int, typer.Option(min=0, help="Another seed, other sentences of a large text.")]
BAR = 10  # characters of 100%


def inspect(
    models: Annotated[list[str], typer.Argument(metavar="MODEL...", help=MODEL_HELP)],
    corpus: Annotated[str, typer.Argument(metavar="CORPUS", help=CorpusHelp)],
    column: Column = None,
    size: Annotated[int, typer.Option("--sentences", min=20, help="How many sentences of the text to look at.")] = 1000,
    seed: Seed = 0,
    task: Annotated[
        str | None, typer.Option(help="Graded pairs to remove frequent tokens on too; names as in `isotrope evaluate`.")
    ] = None,
    data: Data = None,
    picture: Annotated[Path | None, typer.Option("--plot", help="Picture to draw: .png, .svg or .pdf.")] = None,
    batch_size: BatchSize = 64,
    device: Device = None,
    as_json: AsJson = False,
    force: Force = False,
) -> None:
    """Show how the sentences of a text lie in the space of an encoder, or of several side by side.

    [dim]Example:[/] isotrope inspect bundled runs/first/encoder sentences.txt --plot space.png
    """
    if picture:
        check_output(picture, PICTURES, force=force)
        if importlib.util.find_spec("matplotlib") is None:
            raise IsotropeError("a picture needs matplotlib: pip install 'isotrope[plots]'")
    from isotrope.evaluation.sample import sample

    with waiting(f"Reading {corpus}"):
        sentences = sample(read_sentences(corpus, column), size, seed)
    pairs = load_tasks([task], data, None)[task] if task else None
    check_models(models)
    from isotrope.evaluation.inspection import inspect as look
    from isotrope.evaluation.inspection import plot, reading

    found = []
    for model in models:
        encoder = load_encoder(model, device=device)
        with waiting(f"{model}: {many(len(sentences), 'sentence')}"):
            found.append(look(encoder, sentences, pairs=pairs, batch_size=batch_size))
    if picture:
        with whole_or_nothing(picture) as partial:
            plot(found, partial)
        typer.echo(f"Picture: {picture}", err=True)
    if as_json:
        print_json(
            {"corpus": corpus, "task": task, "models": [{**_as_json(one), "reading": reading(one)} for one in found]}
        )
        return
    print_table(_table(found, f"{many(len(sentences), 'sentence')} of {corpus}", task))
    for one in found:
        typer.echo(f"\n{one.model}:" if len(found) > 1 else "")
        typer.echo("\n".join(f"- {line}" for line in reading(one)))
        if one.tokens:
            shown = ", ".join(f"{token} {share:.1%}" for token, share in one.tokens.items())
            typer.echo(f"- The most frequent tokens: {shown}.")
    typer.echo("\nHow vectors lie is not how good they are: for that, isotrope compare and isotrope evaluate.")


def _table(found: list[Inspection], title: str, task: str | None) -> Table:
    from isotrope.evaluation.inspection import FIRST

    table = Table("", title=escape(title), title_justify="left")
    for one in found:
        table.add_column(escape(one.model), justify="right")
    table.add_column("", style="dim")

    def row(name: str, figures: list[str], meaning: str = "") -> None:
        table.add_row(name, *figures, meaning)

    row("Mean cosine", [_figure(one.mean_cosine) for one in found], "of two sentences at random: 1 if all are alike")
    row("Uniformity", [_figure(one.uniformity) for one in found], "how evenly they spread: low is good")
    row(
        "Alignment",
        [_figure(one.alignment) for one in found],
        f"distance of the halves of {found[0].halves:,} long ones: low is good",
    )
    row("Effective rank", [f"{one.effective_rank:.1f} of {one.dim}" for one in found], "directions that are in use")
    row("Isotropy", [_figure(one.partition_isotropy) for one in found], "1: the same from every side")
    row("IsoScore", [_figure(one.iso_score) for one in found], "1: about their mean, all directions alike")
    table.add_section()
    for k in FIRST:
        if k <= max(len(one.spectrum) for one in found):
            name = f"First {many(k, 'direction')}"
            row(name, [_bar(one.first(k)) for one in found], "share of squared length" if k == 1 else "")
    for what, shown in (("mean cosine", "sensitivity"), (f"Spearman x 100 on {task}", "graded")):
        curves = [getattr(one, shown) for one in found]
        if not any(curves):
            continue
        table.add_section()
        removed = next(curve.removed for curve in curves if curve)
        for i, k in enumerate(removed):
            figures = ["-" if curve is None else _figure((curve.spearman or curve.mean_cosine)[i]) for curve in curves]
            row(f"Without {k} tokens", figures, f"{what}, the most frequent left out of the average" if not i else "")
    return table


def _figure(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.2f}" if abs(value) >= 10 else f"{value:.3f}"


def _bar(share: float) -> str:
    full = round(share * BAR)
    return f"{'█' * full}{'░' * (BAR - full)} {share:4.0%}"


def _as_json(one: Inspection) -> dict[str, Any]:
    """Figures to four digits; null where there is none."""
    from dataclasses import asdict

    figures = asdict(one)
    del figures["cosines"]
    return {name: _rounded(value) for name, value in figures.items()}


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return None if math.isnan(value) else float(f"{value:.4g}")
    if isinstance(value, dict):
        return {name: _rounded(part) for name, part in value.items()}
    if hasattr(value, "__iter__") and not isinstance(value, str):
        return [_rounded(part) for part in value]
    return value
