"""`inspect`: how the sentences of a text lie in the space of encoders, in figures, in words and in a picture."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.markup import escape
from rich.table import Table

from isotrope.evaluation.geometry.inspection import Inspection, inspect_encoder, reading
from isotrope.evaluation.geometry.pictures import new_figure, save
from isotrope.evaluation.label_free.sampling import sample_sentences
from isotrope.evaluation.models import Model, Models, check_models, group_models, model_name, open_model
from isotrope.evaluation.protocols import SILENT, Display
from isotrope.evaluation.results.printing import Printable, many
from isotrope.evaluation.tasks import AnyTask, load_pairs, read_task
from isotrope.text.shaping import Shape, shaped_sentences

FIRST = (1, 3, 10, 30, 100)  # directions
BAR = 10  # characters of 100%
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")  # Okabe and Ito's


def inspect(
    models: Models,
    text: Any,
    *,
    column: str | None = None,
    columns: str | Iterable[str] | None = None,
    join: str | None = None,
    strip_html: bool = False,
    sentences: int = 1000,
    seed: int = 0,
    task: AnyTask | None = None,
    data: str | Path | None = None,
    batch_size: int = 64,
    device: str | None = None,
    precision: str | None = None,
    display: Display = SILENT,
) -> Inspections:
    """Shows how the sentences of a text lie in the space of an encoder, or of several side by side.

    Args:
        models: One or several of: a name, a model folder, the folder of a run, an `Encoder`, a `SentenceTransformer`.
        text: A file, or sentences in memory; whatever `isotrope.text.read_sentences` reads.
        column: The column that holds the sentences, if the text is a table.
        columns: Several columns: `"Subject,Body"` or a list; each is a text of its own, or with `join` they make one.
        join: What stands between the columns of a row: `". "`.
        strip_html: Takes HTML out of the text.
        sentences: How many sentences of the text are looked at.
        seed: Another seed takes other sentences of a large text.
        task: Graded pairs on which frequent tokens are removed too, by the name of a task.
        data: Folder of data sets; by default `$ISOTROPE_DATA`, else the Hugging Face Hub.
        batch_size: Sentences at a time.
        device: `cpu`, `cuda`, `cuda:1`, `mps` ...; by default the fastest there is.
        precision: `float32` or `bfloat16`, for models that are loaded by name.
        display: Shows progress; by default nothing is shown.

    Returns:
        The figures of each model, which print as a table with a reading in words, and can be drawn.

    >>> from isotrope.text import bundled_sentences
    >>> found = inspect("bundled", bundled_sentences(), sentences=50)
    >>> found.models[0].sentences, found.models[0].dim
    (50, 256)
    """
    shown = str(text) if isinstance(text, str | Path) else "the given text"
    with display.waiting(f"Reading {shown}"):
        read = shaped_sentences(text, Shape.of(columns, join, strip_html, column=column), column)
        some = sample_sentences(read, sentences, seed)
        pairs = None if task is None else load_pairs(task, data=Path(data) if data else None)
    members: list[tuple[str, Model]] = [
        (group.name if len(group.models) == 1 else model_name(model), model)
        for group in group_models(models)
        for model in group.models
    ]
    check_models([model for _, model in members])
    found = []
    for name, model in members:
        with display.waiting(f"Loading {name}"):
            encoder = open_model(model, device=device, precision=precision)
        with display.waiting(f"{name}: {many(len(some), 'sentence')}"):
            figures = inspect_encoder(encoder, some, pairs=pairs, batch_size=batch_size)
        found.append(replace(figures, model=name))
    return Inspections(found, shown, None if task is None else read_task(task).name)


@dataclass(frozen=True, repr=False)
class Inspections(Printable):
    """Encoders on one text, side by side."""

    models: Sequence[Inspection]
    text: str = "the given text"
    task: str | None = None

    def parts(self) -> Iterator[Table | str]:
        """The figures, then what they mean."""
        yield self._table()
        for one in self.models:
            yield f"\n{one.model}:" if len(self.models) > 1 else ""
            yield "\n".join(f"- {line}" for line in reading(one))
            if one.tokens:
                shown = ", ".join(f"{token} {share:.1%}" for token, share in one.tokens.items())
                yield f"- The most frequent tokens: {shown}."
        yield "\nThis shows how the vectors are spread, not how good they are: for that, see compare and evaluate."

    def as_dict(self) -> dict[str, Any]:
        """Figures to four digits; null where there is none."""
        models = [{**_as_dict(one), "reading": reading(one)} for one in self.models]
        return {"corpus": self.text, "task": self.task, "models": models}

    def plot(self, path: str | Path) -> None:
        """Draws spectra and cosines of random pairs; the ending of `path` is the format (.png, .svg, .pdf)."""
        plot(self.models, path)

    def _table(self) -> Table:
        found = self.models
        title = f"{many(found[0].sentences, 'sentence')} from {self.text}"
        table = Table("", title=escape(title), title_justify="left")
        for one in found:
            table.add_column(escape(one.model), justify="right")
        table.add_column("", style="dim")

        def row(name: str, figures: list[str], meaning: str = "") -> None:
            table.add_row(name, *figures, meaning)

        row("Mean cosine", [_figure(one.mean_cosine) for one in found], "of two random sentences: 1 if all look alike")
        row("Uniformity", [_figure(one.uniformity) for one in found], "how evenly they are spread: low is good")
        distance = f"distance between the halves of {found[0].halves:,} long sentences: low is good"
        row("Alignment", [_figure(one.alignment) for one in found], distance)
        row("Effective rank", [f"{one.effective_rank:.1f} of {one.dim}" for one in found], "directions in use")
        row("Isotropy", [_figure(one.partition_isotropy) for one in found], "1: the same in every direction")
        row("IsoScore", [_figure(one.iso_score) for one in found], "1: around their mean, all directions used equally")
        table.add_section()
        for k in FIRST:
            if k <= max(len(one.spectrum) for one in found):
                shares = [_bar(one.first(k)) for one in found]
                row(f"First {many(k, 'direction')}", shares, "share of squared length" if k == 1 else "")
        self._add_curves(table)
        return table

    def _add_curves(self, table: Table) -> None:
        """What removing the most frequent tokens does."""
        for what, shown in (("mean cosine", "sensitivity"), (f"Spearman x 100 on {self.task}", "graded")):
            curves = [getattr(one, shown) for one in self.models]
            if not any(curves):
                continue
            table.add_section()
            meaning = f"{what}, with the most frequent tokens left out"
            for i, k in enumerate(next(curve.removed for curve in curves if curve)):
                values = [None if curve is None else (curve.spearman or curve.mean_cosine)[i] for curve in curves]
                figures = ["-" if value is None else _figure(value) for value in values]
                table.add_row(f"Without {k} tokens", *figures, meaning if not i else "")


def _figure(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.2f}" if abs(value) >= 10 else f"{value:.3f}"


def _bar(share: float) -> str:
    full = round(share * BAR)
    return f"{'█' * full}{'░' * (BAR - full)} {share:4.0%}"


def _as_dict(one: Inspection) -> dict[str, Any]:
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


def plot(found: Sequence[Inspection], path: str | Path) -> None:
    """Draws spectra and cosines of random pairs; the ending of `path` is the format (.png, .svg, .pdf)."""
    figure = new_figure((9.6, 4))
    left, right = figure.subplots(1, 2)
    for i, one in enumerate(found):
        colour = COLOURS[i % len(COLOURS)]
        left.plot(range(1, len(one.spectrum) + 1), 100 * one.spectrum, color=colour, label=one.model)
        _draw_histogram(right, one, colour)
    left.set(xscale="log", yscale="log", xlabel="Principal direction", ylabel="% of squared length", title="Spectrum")
    floor = 100 * min(one.spectrum[one.spectrum > 1e-6].min() for one in found)
    left.set_ylim(floor / 2, 150)
    left.xaxis.set_major_formatter("{x:g}")
    left.yaxis.set_major_formatter("{x:g}")
    right.set(xlabel="Cosine of two sentences picked at random", title="Similarity", yticks=[])
    right.set_xlim(min(-0.2, *(float(one.cosines.min()) for one in found)), 1)
    right.set_ylim(bottom=0)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(axis="x", color="0.92")
        axes.set_axisbelow(True)
    right.spines["left"].set_visible(False)
    left.legend(frameon=False)
    save(figure, path)


def _draw_histogram(axes: Any, one: Inspection, colour: str) -> None:
    """Shares of the pairs, and a line at their mean."""
    heights, edges = np.histogram(one.cosines, bins=np.linspace(-1, 1, 101), density=True)
    axes.stairs(heights, edges, fill=True, color=colour, alpha=0.35)
    axes.stairs(heights, edges, color=colour)
    axes.axvline(one.mean_cosine, color=colour, linestyle=":")
