"""Charts as SVG that takes its colours from the page: lines, areas and paths over two axes, and the same in words."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from isotrope.reporting.markup import Html, fill, joined

WIDTH, HEIGHT = 440, 270
LEFT, RIGHT, TOP, BOTTOM = 62, 14, 12, 44
TICKS = 5
ROOM = 0.08  # beyond the outermost points, as a share

FIGURE = """<figure class="chart"><figcaption><strong>{title}</strong> {caption}</figcaption>{legend}
<svg viewBox="0 0 {width} {height}" role="img" aria-label="{label}">{body}</svg></figure>"""


@dataclass(frozen=True)
class Series:
    """A line: its name, points (x, y) from left to right, and which of the page's colours it has."""

    name: str
    points: Sequence[tuple[float, float]]
    colour: int
    filled: bool = False
    dashed: bool = False
    labels: Sequence[str] = ()  # of its points; with labels the points are marked


@dataclass(frozen=True)
class Axis:
    """What stands at an axis, and whether it is logarithmic."""

    name: str
    log: bool = False
    zero: bool = False  # whether it must show 0


def chart(title: str, caption: str, x: Axis, y: Axis, series: Sequence[Series]) -> Html:
    """A figure with a title, a caption that says what to see, a legend, and words in place of the picture."""
    shown = [one for one in series if one.points]
    if not shown:
        return Html("")
    across = _Scale.of([p[0] for one in shown for p in one.points], x, LEFT, WIDTH - RIGHT)
    up = _Scale.of([p[1] for one in shown for p in one.points], y, HEIGHT - BOTTOM, TOP)
    body = joined([_axes(x, y, across, up), *(_line(one, across, up) for one in shown)])
    names = [fill('<li><i class="c{k}"></i>{name}</li>', k=one.colour, name=one.name) for one in shown]
    legend = (
        fill('<ul class="legend">{names}</ul>', names=joined(names)) if len(shown) > 1 or shown[0].dashed else Html("")
    )
    label = f"{title}: {x.name} and {y.name}. " + " ".join(map(_in_words, shown))
    return fill(FIGURE, title=title, caption=caption, legend=legend, width=WIDTH, height=HEIGHT, label=label, body=body)


def ticks(low: float, high: float, wanted: int = TICKS) -> list[float]:
    """Round numbers from about `low` to `high`, within them."""
    rough = (high - low) / wanted
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(unit * factor for factor in (1, 2, 2.5, 5, 10) if unit * factor >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [number * step + 0.0 for number in range(first, math.floor(high / step + 1e-9) + 1)]


@dataclass(frozen=True)
class _Scale:
    """Numbers to places on the page."""

    low: float
    high: float
    start: float
    end: float
    log: bool

    @classmethod
    def of(cls, values: Sequence[float], axis: Axis, start: float, end: float) -> _Scale:
        low, high = min(values), max(values)
        if axis.log:
            return cls(max(low, 1e-9), max(high, low * 2), start, end, True)
        low, high = (min(low, 0.0), max(high, 0.0)) if axis.zero else (low, high)
        room = ROOM * (high - low) or max(abs(high), 1.0) * 0.05
        return cls(low if axis.zero and low == 0 else low - room, high + room, start, end, False)

    def __call__(self, value: float) -> float:
        turn: Callable[[float], float] = math.log if self.log else float
        share = (turn(value) - turn(self.low)) / (turn(self.high) - turn(self.low))
        return self.start + share * (self.end - self.start)

    def ticks(self) -> list[float]:
        if not self.log:
            return ticks(self.low, self.high)
        powers = (factor * 10.0**power for power in range(-9, 10) for factor in (1, 2, 5))
        return [value for value in powers if self.low <= value <= self.high]


GRID = '<line class="grid" x1="{a}" x2="{b}" y1="{p}" y2="{p}"/><text x="{t}" y="{q}" class="end">{v}</text>'
TICK = '<text x="{p}" y="{q}" class="middle">{v}</text>'
NAMES = """<text x="{x}" y="{low}" class="middle name">{across}</text>
<text transform="translate(12 {y}) rotate(-90)" class="middle name">{up}</text>"""
DOT = '<circle class="dot c{k}" cx="{x}" cy="{y}" r="4"/><text x="{t}" y="{u}" class="{end}">{label}</text>'


def _axes(x: Axis, y: Axis, across: _Scale, up: _Scale) -> Html:
    lines = [
        fill(GRID, a=LEFT, b=WIDTH - RIGHT, t=LEFT - 6, p=_number(up(one)), q=_number(up(one) + 4), v=_shown(one))
        for one in up.ticks()
    ]
    below = HEIGHT - BOTTOM + 17
    lines += [fill(TICK, p=_number(across(one)), q=below, v=_shown(one)) for one in across.ticks()]
    middle = {"x": (LEFT + WIDTH - RIGHT) / 2, "y": (TOP + HEIGHT - BOTTOM) / 2}
    return joined([*lines, fill(NAMES, **middle, low=HEIGHT - 8, across=x.name, up=y.name)])


def _line(one: Series, across: _Scale, up: _Scale) -> Html:
    places = [(across(x), up(y)) for x, y in one.points]
    path = " ".join(f"{_number(x)},{_number(y)}" for x, y in places)
    dash = Html(' stroke-dasharray="5 4"' if one.dashed else "")
    parts = []
    if one.filled:
        floor = _number(HEIGHT - BOTTOM)
        area = f"{_number(places[0][0])},{floor} {path} {_number(places[-1][0])},{floor}"
        parts.append(fill('<polygon class="area c{k}" points="{area}"/>', k=one.colour, area=area))
    parts.append(fill('<polyline class="line c{k}"{dash} points="{path}"/>', k=one.colour, dash=dash, path=path))
    if one.labels or len(places) == 1:
        falls = places[-1][1] > places[0][1]  # down the page: labels go above the first point and below the last
        parts += [
            _dot(*place, label, one.colour, above=falls == (k == 0))
            for k, (place, label) in enumerate(zip(places, one.labels or [""], strict=True))
        ]
    return joined(parts)


def _dot(x: float, y: float, label: str, colour: int, *, above: bool) -> Html:
    """A point and its label, on the side where there is room."""
    right = x > WIDTH * 0.7
    beside, end = _number(x + (-8 if right else 8)), "end" if right else "start"
    return fill(DOT, k=colour, x=_number(x), y=_number(y), t=beside, u=y + (-7 if above else 15), end=end, label=label)


def _in_words(one: Series) -> str:
    first, last = one.points[0], one.points[-1]
    if one.filled:
        peak = max(one.points, key=lambda point: point[1])
        return f"{one.name}: most at {_shown(peak[0])}."
    return f"{one.name}: from {_shown(first[1])} at {_shown(first[0])} to {_shown(last[1])} at {_shown(last[0])}."


def _number(value: float) -> str:
    return f"{value:.1f}"


def _shown(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
