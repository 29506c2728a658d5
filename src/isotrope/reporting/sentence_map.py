"""The map of a report: every text a point, its text where one points at it, coloured by cluster or by a column."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isotrope.reporting.markup import Html, fill, joined, shortened

if TYPE_CHECKING:
    from isotrope.reporting.report import Report

SCRIPT = Path(__file__).parent / "map.js"  # moves and colours the points, and says their text
SIZE, EDGE = 600, 14
CLUSTER = "cluster"
POINT = '<circle class="c{k}" cx="{x}" cy="{y}" r="5" tabindex="-1"><title>{text}</title></circle>'
SECTION = """<p>Every point is a text; the encoder finds nearby points similar. Only nearness means something: the
axes, the distance between far groups and the size of a group mean nothing (t-SNE). Point at a dot, or tap it, to read
its text.</p>
<div class="controls" id="map-controls" hidden>
<label>Encoder <select id="map-view">{views}</select></label>
<label>Colour <select id="map-colour">{colours}</select></label>
<label>Mark <input id="map-find" type="search" placeholder="a word"></label></div>
<ul class="legend" id="map-legend">{legend}</ul>
<div class="map"><svg id="map-points" viewBox="0 0 {size} {size}" role="img" aria-label="{label}">{points}</svg></div>
<p class="said t" id="map-said" aria-live="polite" dir="auto">Point at a dot.</p>
<script type="application/json" id="map-data">{data}</script><script>{script}</script>"""


def map_section(found: Report) -> Html:
    """The first map as it stands, and a little script that shows the others, colours, and says the text."""
    data = map_data(found)
    first = next(iter(data["points"]))
    clusters = data["colours"][CLUSTER]
    points = [
        fill(POINT, k=clusters["values"][k] + 1, x=x, y=y, text=shortened(found.sample.texts[k]))
        for k, (x, y) in enumerate(data["points"][first])
    ]
    legend = [
        fill('<li><i class="c{k}"></i>{name}</li>', k=k + 1, name=name) for k, name in enumerate(clusters["names"])
    ]
    label = f"{len(points)} texts as points in {len(clusters['names'])} clusters: {'; '.join(clusters['names'])}."
    return fill(
        SECTION,
        views=_options(data["points"]),
        colours=_options(data["colours"]),
        legend=joined(legend),
        size=SIZE,
        label=label,
        points=joined(points),
        data=_as_data(data),
        script=Html(SCRIPT.read_text(encoding="utf-8")),
    )


def map_data(found: Report) -> dict[str, Any]:
    """Where the points lie under each encoder, and what they can be coloured by: the number of a name, -1 for none."""
    room = SIZE - 2 * EDGE
    labels = {one.space.name: one.label for one in found.spaces()}
    points = {
        labels[name]: [[round(EDGE + room * x, 1), round(EDGE + room * (1 - y), 1)] for x, y in some.tolist()]
        for name, some in found.map.points.items()
    }
    shown = labels[found.runs[0].kept.name]  # the encoder that is kept comes first
    points = {shown: points[shown], **points}
    colours = {CLUSTER: {"names": found.map.names, "values": found.map.clusters.tolist()}}
    for name, values in found.sample.colours().items():
        names = sorted({value for value in values if value is not None})
        numbers = [-1 if value is None else names.index(value) for value in values]
        colours[name if name != CLUSTER else f"{name} "] = {"names": names, "values": numbers}
    return {"points": points, "colours": colours}


def _options(names: Any) -> Html:
    return joined(fill("<option>{name}</option>", name=name) for name in names)


def _as_data(value: Any) -> Html:
    """JSON that no text in it can end early."""
    text = json.dumps(value, ensure_ascii=False).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return Html(text)
