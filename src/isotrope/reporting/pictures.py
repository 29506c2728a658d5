"""The charts of a report."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from isotrope.reporting.charts import Axis, Series, chart
from isotrope.reporting.markup import Html, fill, joined
from isotrope.reporting.spaces import shares

if TYPE_CHECKING:
    from isotrope.reporting.findings import RunFindings
    from isotrope.reporting.report import Report

CHARTS = '<div class="charts">{charts}</div>'
OTHER_FIGURES = ("grad_norm", "learning_rate", "padding", "step")  # of a line of losses that are no parts of the loss
STEP = Axis("optimiser step")


def similarities(found: Report) -> Html:
    """Histograms of cosines: all pairs, and each text with its nearest."""
    spaces = found.spaces()
    alike, near = [one.space.random for one in spaces], [one.space.nearest for one in spaces]
    charts = []
    for cosines, bins, title, caption, of in (
        (
            alike,
            60,
            "Two random texts",
            "The further left and the wider, the better different texts are told apart.",
            "pairs",
        ),
        (
            near,
            30,
            "A text and its nearest neighbour",
            "The further right compared with the first chart, the more neighbours stand out.",
            "texts",
        ),
    ):
        series = [
            Series(one.label, _where_any(points.tolist()), one.colour, filled=True)
            for one, points in zip(spaces, shares(cosines, bins), strict=True)
        ]
        charts.append(chart(title, caption, Axis("cosine similarity"), Axis(f"% of {of}", zero=True), series))
    return fill(CHARTS, charts=joined(charts))


def directions(found: Report) -> Html:
    """The spectrum: how much of the vectors lies in the first k principal directions."""
    series = [
        Series(one.label, [(k + 1.0, float(share)) for k, share in enumerate(one.space.directions)], one.colour)
        for one in found.spaces()
    ]
    caption = (
        "How much of the vectors' squared length lies in the first 1, 2, 3 ... principal directions. A curve that "
        "starts high: all texts share one direction. A low curve: many directions carry meaning."
    )
    axes = Axis("principal directions (logarithmic)", log=True), Axis("% of the squared length", zero=True)
    return fill(CHARTS, charts=chart("Spectrum", caption, *axes, series))


def training(found: Report) -> Html:
    """Losses and scores over the steps, and the path of alignment and uniformity; nothing where nothing was learnt."""
    charts = [one for one in (*_losses(found), *_scores(found), path(found)) if one]
    return fill(CHARTS, charts=joined(charts)) if charts else Html("")


def path(found: Report) -> Html:
    """Alignment and uniformity from evaluation to evaluation; without any, those of the judge before and after."""
    series = [
        Series(name, points, colour, labels=labels)
        for colour, (name, points, labels) in enumerate((one for run in found.runs for one in _paths(found, run)), 1)
    ]
    caption = (
        "Down and to the left is good: texts that belong together are close (alignment), and all texts are spread "
        "evenly (uniformity). Anything that spreads the vectors moves down and to the right."
    )
    if len(found.runs) > len(series) == 1:
        caption = f"Only {series[0].name}. {caption}"
    axes = Axis("alignment: distance between texts that belong together"), Axis("uniformity")
    return chart("Alignment and uniformity", caption, *axes, series)


def _losses(found: Report) -> Iterator[Html]:
    names = list(dict.fromkeys(name for run in found.runs for lines in run.facts.logs for name in _parts(lines)))
    for run_name, lines in _stages(found):
        measured = [name for name in names if any(name in line for line in lines)]
        series = [Series(name.replace("_", " "), _over(lines, name), k + 1) for k, name in enumerate(measured)]
        held_out = _over(lines, "eval_held_out_loss")
        if held_out:
            series.append(Series("on held-out text", held_out, 0, dashed=True))
        caption = "The mean since the last point. Falling losses alone do not mean a better encoder."
        yield chart(f"Loss{run_name}", caption, STEP, Axis("loss"), series)


def _scores(found: Report) -> Iterator[Html]:
    for key, title, caption in (
        ("eval_spearman", "Development score", "Spearman x 100 against the grades that people gave: higher is better."),
        ("eval_mean_cosine", "Mean cosine during training", "Of two random texts. Near 1 at the end: a collapse."),
        ("eval_effective_rank", "Effective rank during training", "Directions in use. A sharp fall: a collapse."),
    ):
        series = [
            Series((name or title).strip(": "), _over(lines, key), k + 1)
            for k, (name, lines) in enumerate(_stages(found))
        ]
        yield chart(title, caption, STEP, Axis(title.removesuffix(" during training").lower()), series)


def _stages(found: Report) -> list[tuple[str, list[dict[str, Any]]]]:
    """The log of each stage that has one, and what to call it."""
    named = []
    for run in found.runs:
        for number, lines in enumerate(run.facts.logs, 1):
            where = [run.facts.name] if len(found.runs) > 1 else []
            where += [f"stage {number}"] if len(run.facts.logs) > 1 else []
            if lines:
                named.append((": " + ", ".join(where) if where else "", lines))
    return named


def _parts(lines: list[dict[str, Any]]) -> list[str]:
    """The loss and what it consists of, by the lines of a log."""
    return [name for line in lines if "loss" in line for name in line if name not in OTHER_FIGURES]


def _over(lines: list[dict[str, Any]], name: str) -> list[tuple[float, float]]:
    return [(float(line["step"]), float(line[name])) for line in lines if line.get(name) is not None]


def _paths(found: Report, run: RunFindings) -> Iterator[tuple[str, list[tuple[float, float]], list[str]]]:
    learnt = False
    for number, lines in enumerate(run.facts.logs, 1):
        measured = [line for line in lines if line.get("eval_alignment") is not None]
        if len(measured) > 1:
            learnt = True
            name = run.facts.name if len(run.facts.logs) == 1 else f"{run.facts.name}, stage {number}"
            points = [(line["eval_alignment"], line["eval_uniformity"]) for line in measured]
            ends = (0, len(points) - 1)
            yield name, points, [f"step {line['step']}" if k in ends else "" for k, line in enumerate(measured)]
    pairs = (run.verdict or {}).get("pairs", {}).get("halves")
    if not learnt and run.verdict and pairs:
        spread = run.verdict["text"]
        points = [(pairs[when]["alignment"], spread[when]["uniformity"]) for when in ("before", "after")]
        yield run.facts.name, points, ["before", "after"]


def _where_any(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Without the empty bins at both ends, but for one."""
    there = [k for k, (_, share) in enumerate(points) if share > 0]
    return points[max(0, there[0] - 1) : there[-1] + 2] if there else []
