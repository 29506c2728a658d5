"""`isotrope demo`: the bundled encoder before and after tuning, on the bundled text."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from isotrope.cli.console import print_table, waiting

if TYPE_CHECKING:
    from isotrope.encoders import Encoder
    from isotrope.evaluation.sts import Pairs

UNTUNED = ("cls", "mean")
RECIPES = {"sg-opt:bundled": None, "consert:bundled": 60, "simcse:bundled": 120}  # with steps: fewer for little text
ALIKE = 4.0  # pairs graded so or higher are the positive pairs of alignment


def demo(
    output: Annotated[
        Path | None, typer.Option(help="Keep the runs in this folder.", show_default="thrown away")
    ] = None,
) -> None:
    """Tune the bundled encoder by three recipes on the bundled sentences, and measure it before and after."""
    with waiting("Starting"):
        import isotrope
        from isotrope.evaluation import load_task
        from isotrope.text import bundled_sentences
        from isotrope.training.run import train

        pairs = load_task("bundled")
        rows = [("no tuning", *_figures(isotrope.load(pooling=pooling), pairs)) for pooling in UNTUNED]
    with tempfile.TemporaryDirectory() as scratch:
        for recipe, steps in RECIPES.items():
            run = (output or Path(scratch)) / recipe.replace(":", "-")
            tuned = train(bundled_sentences(), recipe=recipe, output=run, steps=steps, dev="bundled").encoder
            rows.append((recipe, *_figures(tuned, pairs)))
    print_table(_table(rows, len(pairs.scores)))


def _figures(encoder: Encoder, pairs: Pairs) -> tuple[str, float, float, float]:
    """Pooling, Spearman x 100, alignment of the pairs that mean the same, uniformity of all sentences."""
    from isotrope.evaluation.geometry import alignment, uniformity
    from isotrope.evaluation.sts import cosines, score

    vectors = encoder.encode([*pairs.sentences1, *pairs.sentences2])
    first, second = vectors[: len(pairs.scores)], vectors[len(pairs.scores) :]
    alike = [i for i, grade in enumerate(pairs.scores) if grade >= ALIKE]
    spearman = score(pairs, cosines(first, second)).spearman["all"]
    return str(encoder.pooling), spearman, alignment(first[alike], second[alike]), uniformity(vectors)


def _table(rows: list[tuple[Any, ...]], pairs: int) -> Table:
    best = max(row[2] for row in rows)
    table = Table(title=f"The bundled encoder on the {pairs} bundled test pairs", title_justify="left")
    for name in ("", "Pooling", "Spearman x 100", "Alignment", "Uniformity"):
        table.add_column(name, justify="left" if name in ("", "Pooling") else "right")
    for name, pooling, spearman, alignment, uniformity in rows:
        shown = f"[bold]{spearman:.2f}[/]" if spearman == best else f"{spearman:.2f}"
        table.add_row(name, pooling, shown, f"{alignment:.2f}", f"{uniformity:.2f}")
    return table
