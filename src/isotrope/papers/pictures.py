"""Pictures of a table: as the paper's figure is drawn, or as dots. Published points are hollow, measured filled."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from isotrope.evaluation.geometry.pictures import new_figure, save
from isotrope.papers.published import Value

if TYPE_CHECKING:
    from isotrope.papers.result import MeasuredRow, Reproduction

# Okabe and Ito's, told apart by the colour-blind
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
MARKERS = ("o", "s", "^", "D", "v", "P")
GREY = "#555555"
CAPTION = 100  # characters of a line
NEAR = 0.06  # of the axis: labels that are nearer lie on each other


def draw(found: Reproduction, path: str | Path) -> None:
    """One picture, its caption below."""
    picture = found.table.picture
    figure = DRAWN[picture.kind](found)
    source = f" of {found.table.paper}" if found.table.paper else ""
    words = f"{found.table.label}{source}, run with {found.setting.words(found.table)}."
    if _is_average(found, column_of(found)) and picture.kind != "path":
        words += f" Measured averages are of {', '.join(_averaged(found))}."
    words += f" In the paper: {picture.see}" if picture.see else ""
    figure.supxlabel("\n".join(textwrap.wrap(words, CAPTION)), fontsize=8, color=GREY)
    save(figure, path)


def column_of(found: Reproduction) -> str:
    """The name of the column that is drawn."""
    return found.table.pictured.name


def _lines(found: Reproduction) -> Any:
    """x against the figures, a line for each group; what has no x is a level line."""
    figure = new_figure((7, 4.8))
    axes, column = figure.subplots(), column_of(found)
    placed = [one for one in found.rows if isinstance(one.row.x, float | int)]
    drawn = [one for one in placed if one.value(column) or _published(found, one, column)]
    place = _places(sorted({float(one.row.x) for one in drawn}), log=found.table.picture.log)  # type: ignore[arg-type]
    for number, group in enumerate(dict.fromkeys(one.row.group for one in placed)):
        colour, marker = COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)]
        some = [one for one in placed if one.row.group == group]
        _line(axes, some, place, column, group or "measured", colour, marker)
        printed = [(place[one.row.x], value.value) for one in some if (value := _published(found, one, column))]
        if printed:
            label = f"{group}, published".lstrip(", ")
            axes.plot(*zip(*printed, strict=True), marker, mfc="none", mec=colour, ms=9, ls="", label=label, zorder=5)
    level = [one for one in (*found.untuned, *found.rows) if one.row.x is None and one.value(column)]
    for number, one in enumerate(level):
        value = one.value(column)
        axes.axhline(value.value, color=GREY, lw=1, ls=((0, (1 + 2 * number, 2))), label=one.row.full_name)  # type: ignore[union-attr]
    if found.table.picture.log and all(x == where for x, where in place.items()):
        axes.set_xscale("log")
    if 0 < len(place) <= 14:
        axes.set_xticks(list(place.values()), [f"{x:g}" for x in place])
        axes.minorticks_off()
    return _finished(figure, axes, found, column, found.table.picture.x)


def _places(ticks: list[float], *, log: bool) -> dict[Any, float]:
    """Where each x stands: at its value or, where labels would lie on each other (0.99, 0.999), one after another."""
    values = np.log(ticks) if log else np.asarray(ticks)
    gaps = np.diff(values)
    crowded = len(gaps) > 1 and gaps.min() < NEAR * gaps.sum()
    return {x: float(number) if crowded else x for number, x in enumerate(ticks)}


def _line(
    axes: Any,
    rows: list[MeasuredRow],
    place: dict[Any, float],
    column: str,
    label: str,
    colour: str,
    marker: str,
) -> None:
    points = [(place[one.row.x], value) for one in rows if (value := one.value(column))]
    if points:
        x, values = zip(*points, strict=True)
        spread = [value.spread or 0.0 for value in values]
        means = [value.value for value in values]
        axes.errorbar(x, means, yerr=spread, color=colour, marker=marker, capsize=3, lw=1.5, label=label)


def _grid(found: Reproduction) -> Any:
    """A square for each pair of x and y, with its figure in it."""
    column = column_of(found)
    xs = list(dict.fromkeys(one.row.x for one in found.rows))
    ys = list(dict.fromkeys(one.row.y for one in found.rows))
    values = np.full((len(ys), len(xs)), np.nan)
    for one in found.rows:
        if value := one.value(column):
            values[ys.index(one.row.y), xs.index(one.row.x)] = value.value
    figure = new_figure((7, 5.6))
    axes = figure.subplots()
    image = axes.imshow(values, cmap="cividis")
    middle = np.nanmean(values) if np.isfinite(values).any() else 0.0
    for (row, place), value in np.ndenumerate(values):
        if np.isfinite(value):
            axes.text(
                place, row, f"{value:.2f}", ha="center", va="center", color="white" if value < middle else "black"
            )
    axes.set_xticks(range(len(xs)), [str(x) for x in xs], rotation=20)
    axes.set_yticks(range(len(ys)), [str(y) for y in ys])
    axes.set(xlabel=found.table.picture.x, ylabel=found.table.picture.y, title=_figure_name(found, column))
    figure.colorbar(image)
    return figure


def _dots(found: Reproduction) -> Any:
    """A dot for each row that has a figure, from top to bottom."""
    column = column_of(found)
    rows = [one for one in (*found.untuned, *found.rows) if one.value(column)]
    figure = new_figure((7, 1.8 + 0.36 * len(rows)))
    axes = figure.subplots()
    places = list(range(len(rows)))[::-1]
    measured = [one.value(column) or Value(0.0) for one in rows]
    means, spread = [value.value for value in measured], [value.spread or 0.0 for value in measured]
    axes.errorbar(means, places, xerr=spread, fmt="o", color=COLOURS[0], capsize=3, label="measured")
    pairs = zip(rows, places, strict=True)
    printed = [(value.value, place) for one, place in pairs if (value := _published(found, one, column))]
    if printed:
        axes.plot(*zip(*printed, strict=True), "D", mfc="none", mec=COLOURS[1], ls="", label="published")
    axes.set_yticks(places, [one.row.full_name for one in rows])
    axes.set_ylim(-0.6, len(rows) - 0.4)
    axes.set_xlabel(_figure_name(found, column))
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)
    return figure


def _path(found: Reproduction) -> Any:
    """Uniformity against alignment through training, from the ring to the arrow's end: of graded pairs where there is a
    development set (A), and of the texts that were held out (B).
    """
    names = {
        "pairs_": "A: target encoder, pairs of the development set",
        "": "B: translations held out of training",
    }
    lines = [line for one in found.rows for path in one.paths for line in path]
    kinds = [kind for kind in names if any(line.get(f"eval_{kind}alignment") is not None for line in lines)]
    figure = new_figure((1.2 + 5.4 * len(kinds), 5.2))
    for axes, kind in zip(figure.subplots(1, len(kinds), squeeze=False)[0], kinds, strict=True):
        for number, one in enumerate(found.rows):
            for seed, path in enumerate(one.paths):
                there = [line for line in path if line.get(f"eval_{kind}alignment") is not None]
                x, y = ([line[f"eval_{kind}{name}"] for line in there] for name in ("uniformity", "alignment"))
                _way(axes, x, y, COLOURS[number % len(COLOURS)], one.row.full_name if not seed else None)
        axes.plot([], [], "o", mfc="none", mec=GREY, ms=9, ls="", label="start of training")
        axes.set_title(names[kind], fontsize=10)
        _finished(figure, axes, found, "", "uniformity (lower is better)", "alignment (lower is better)")
    return figure


def _way(axes: Any, x: list[float], y: list[float], colour: str, label: str | None) -> None:
    axes.plot(x, y, color=colour, marker=".", lw=1.2, label=label)
    axes.plot(x[:1], y[:1], "o", mfc="none", mec=colour, ms=9)
    if len(x) > 1:
        arrow = {"arrowstyle": "-|>", "color": colour, "mutation_scale": 16}
        axes.annotate("", (x[-1], y[-1]), (x[-2], y[-2]), arrowprops=arrow)


def _pairs(found: Reproduction) -> Any:
    """Gold scores against cosines, a panel for each row that was measured; of its first seed."""
    figure, panels = _panels(found, share=True)
    for axes, one in panels:
        points = one.points[0]
        axes.plot(points["gold"], points["cosine"], ".", color=COLOURS[0], ms=3, alpha=0.35, ls="")
        axes.set_xlabel("gold score")
        axes.grid(alpha=0.3)
    for axes, _ in panels[:1]:
        axes.set_ylabel("cosine of the pair")
    return figure


def _map(found: Reproduction) -> Any:
    """Both sides of each pair under its number, joined by a line: alike in red, unlike in blue."""
    figure, panels = _panels(found)
    for axes, one in panels:
        points = one.points[0]
        for number, gold in enumerate(points["gold"]):
            colour = COLOURS[1] if gold == max(points["gold"]) else COLOURS[0]
            x, y = ([points[f"{axis}{side}"][number] for side in (1, 2)] for axis in "xy")
            axes.plot(x, y, color=colour, lw=0.7, alpha=0.5)
            for place in zip(x, y, strict=True):
                axes.text(*place, str(number + 1), color=colour, fontsize=8, ha="center", va="center")
        axes.margins(0.08)
        axes.set(xticks=[], yticks=[], xlabel="t-SNE: nearness counts, axes mean nothing")
    for label, colour in (("highest grade", COLOURS[1]), ("lowest grade", COLOURS[0])):
        panels[0][0].plot([], [], color=colour, label=f"pairs of the {label}")
    panels[0][0].legend(fontsize=8)
    return figure


def _panels(found: Reproduction, *, share: bool = False) -> tuple[Any, list[tuple[Any, MeasuredRow]]]:
    """A panel for each row that has points, under its name and its figure."""
    column = column_of(found)
    rows = [one for one in found.rows if one.points]
    figure = new_figure((1.2 + 4.2 * len(rows), 4.8))
    axes = figure.subplots(1, len(rows), squeeze=False, sharey=share)[0]
    for panel, one in zip(axes, rows, strict=True):
        value = one.seeds[0][column]
        panel.set_title(f"{one.row.full_name}: {value:.2f}\n({column}, {found.table.metric})", fontsize=10)
    return figure, list(zip(axes, rows, strict=True))


def _finished(figure: Any, axes: Any, found: Reproduction, column: str, x: str, y: str = "") -> Any:
    axes.set_xlabel(x)
    axes.set_ylabel(y or _figure_name(found, column))
    axes.grid(alpha=0.3)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(fontsize=8)
    return figure


def _figure_name(found: Reproduction, column: str) -> str:
    """`STS-B, Spearman x 100`; the caption says which sets an average is of."""
    named = f"average of {len(_averaged(found))} sets" if _is_average(found, column) else column
    return f"{named}, {found.table.metric}"


def _is_average(found: Reproduction, column: str) -> bool:
    return next(one for one in found.table.columns if one.name == column).average


def _averaged(found: Reproduction) -> list[str]:
    return [one.name for one in found.table.columns if not one.average and one.name not in found.absent]


def _published(found: Reproduction, one: MeasuredRow, column: str) -> Any:
    wanted = next(this for this in found.table.columns if this.name == column)
    return found.published(one.row, wanted)


DRAWN: dict[str, Callable[[Reproduction], Any]] = {
    "lines": _lines,
    "grid": _grid,
    "dots": _dots,
    "path": _path,
    "pairs": _pairs,
    "map": _map,
}
