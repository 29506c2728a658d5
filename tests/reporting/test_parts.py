"""The parts of a report: escaping, charts, spaces and neighbours, each against the plainest way to do it."""

from __future__ import annotations

import math
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isotrope.reporting.charts import HEIGHT, WIDTH, Axis, Series, chart, ticks
from isotrope.reporting.commands import _unbroken
from isotrope.reporting.markup import Html, fill, joined, shortened, table
from isotrope.reporting.neighbours import most_changed
from isotrope.reporting.sample import sample_of_table
from isotrope.reporting.spaces import Space, lay_out, shares
from isotrope.reporting.verdict import _judge_table
from isotrope.text import bundled_sentences


class Reader(HTMLParser):
    """What a browser would see: the text, and the tags."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.text, self.tags = "", []

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)


@settings(max_examples=100, deadline=None)
@given(st.text())
def test_whatever_text_goes_in_the_reader_sees_that_text_and_no_tag(text: str) -> None:
    reader = Reader()
    reader.feed(fill("<p>{text}</p>", text=text))
    reader.close()
    printable = "".join(" " if one not in "\n\t" and (ord(one) < 32 or 127 <= ord(one) < 160) else one for one in text)
    assert reader.tags == ["p"]
    assert reader.text.replace("\r", " ") == printable.replace("\r", " ")


def test_only_html_of_ours_is_left_as_it_is() -> None:
    assert fill("{a}{b}", a=Html("<br>"), b="<br>") == "<br>&lt;br&gt;"
    assert "<b>" not in table(["<b>"], [("<b>", "<b>")])
    assert joined([Html("a"), Html("b")], ", ") == "a, b"
    assert shortened(" word\n" * 100, 20) == "word word word wor …"


@settings(max_examples=200, deadline=None)
@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6))
def test_ticks_are_round_evenly_spaced_and_within_the_axis(low: float, width: float) -> None:
    found = ticks(low, low + width)
    assert 2 <= len(found) <= 7
    assert all(low - 1e-6 * width <= one <= low + width * (1 + 1e-6) for one in found)
    step = (found[-1] - found[0]) / (len(found) - 1)
    first = float(f"{step:.3g}") / 10 ** math.floor(math.log10(step))
    assert round(first, 6) in (1, 2, 2.5, 5, 10)


def test_a_chart_is_drawn_to_scale_and_says_itself_in_words() -> None:
    line = Series("<loss>", [(0, 4.0), (10, 3.0), (40, 1.0)], 1)
    other = Series("other", [(0, 2.0), (40, 2.0)], 0, filled=True)
    drawn = chart("Loss & more", "what to see", Axis("step"), Axis("loss"), [line, other])
    svg = ElementTree.fromstring(drawn[drawn.index("<svg") : drawn.index("</svg>") + 6])
    assert svg.get("role") == "img"
    assert "<loss>: from 4 at 0 to 1 at 40." in str(svg.get("aria-label"))
    first, second = svg.findall("polyline")
    (x0, y0), (x1, y1), (x2, y2) = (map(float, pair.split(",")) for pair in str(first.get("points")).split())
    assert (x1 - x0) / (x2 - x0) == pytest.approx(10 / 40, abs=0.002)
    assert (y1 - y0) / (y2 - y0) == pytest.approx(1 / 3, abs=0.002)
    assert all(0 <= x <= WIDTH and 0 <= y <= HEIGHT for x, y in ((x0, y0), (x1, y1), (x2, y2)))
    assert len({pair.split(",")[1] for pair in str(second.get("points")).split()}) == 1
    assert "<strong>Loss &amp; more</strong>" in drawn
    assert chart("none", "", Axis(""), Axis(""), [Series("empty", [], 1)]) == ""


@pytest.mark.parametrize("points", [[(3.0, 2.0)], [(1.0, 0.0), (2.0, 0.0)], [(5.0, -1e-12), (5.0, 1e9)]])
def test_charts_of_single_and_equal_points_can_be_drawn(points: list[tuple[float, float]]) -> None:
    for axis in (Axis("x"), Axis("x", log=True)):
        drawn = chart("t", "c", axis, Axis("y", zero=True), [Series("s", points, 1)])
        assert "nan" not in drawn
        assert "inf" not in drawn


VECTORS = np.random.default_rng(0).normal(size=(40, 8)).astype(np.float32)


class Fixed:
    """An encoder that gives the vectors it was made with."""

    def __init__(self, vectors: np.ndarray) -> None:
        self.vectors = vectors

    def encode(self, texts: list[str]) -> np.ndarray:
        return self.vectors


def space(vectors: np.ndarray) -> Space:
    return Space.of("x", Fixed(vectors), [f"text {k}" for k in range(len(vectors))])


def test_a_space_is_what_loops_over_all_pairs_find() -> None:
    found = space(VECTORS)
    cosine = [[float(x @ y / np.linalg.norm(x) / np.linalg.norm(y)) for y in VECTORS] for x in VECTORS]
    pairs = [cosine[i][j] for i in range(40) for j in range(i + 1, 40)]
    assert sorted(found.random.tolist()) == pytest.approx(sorted(pairs), abs=1e-5)
    assert found.figures["mean_cosine"] == pytest.approx(np.mean(pairs), abs=1e-4)
    for i in range(40):
        wanted = sorted((j for j in range(40) if j != i), key=lambda j: -cosine[i][j])[:4]
        assert found.neighbours(4)[i].tolist() == wanted
    first, second = shares([found.random, found.nearest], 10)
    assert first[:, 1].sum() == pytest.approx(100)
    assert second[:, 1].sum() == pytest.approx(100)
    assert first[:, 0].tolist() == second[:, 0].tolist()
    assert found.directions[-1] == pytest.approx(100)


def test_the_texts_that_changed_most_lost_most_neighbours() -> None:
    moved = VECTORS.copy()
    moved[:5] = -moved[:5]
    before, after = space(VECTORS), space(moved)
    texts = [f"text {k}" for k in range(40)]
    first, second = before.neighbours(4), after.neighbours(4)
    stayed = [len(set(first[k].tolist()) & set(second[k].tolist())) for k in range(40)]
    found = most_changed(texts, before, after, shown=6)
    assert [one.stayed for one in found] == sorted(stayed)[:6]
    for one in found:
        row = texts.index(one.text)
        assert [near.text for near in one.before] == [texts[k] for k in first[row]]
        assert [near.text for near in one.after] == [texts[k] for k in second[row]]
        assert {near.text for near in one.before if near.new} == {texts[k] for k in first[row]} - {
            texts[k] for k in second[row]
        }
    assert most_changed(texts, before, before) == []


def test_placeholders_are_not_among_the_texts() -> None:
    """They are all alike, and would be neighbours and near-duplicates before anything else."""
    rows = [*bundled_sentences()[:40], "N/A", "N/A. -", "n/a"]
    found = sample_of_table([{"text": row, "id": number} for number, row in enumerate(rows)], 100, 1)
    assert set(found.texts) == set(rows[:40])
    assert found.of == 40
    assert [rows[number] for number in found.columns["id"]] == found.texts


def test_a_map_keeps_groups_together_and_is_the_same_each_time() -> None:
    groups = np.repeat(np.eye(8)[:2], 20, axis=0) + 0.05 * VECTORS
    found = lay_out(groups.astype(np.float32), 0)
    assert found.shape == (40, 2)
    assert found.min() == 0
    assert found.max() == 1
    middles = found[:20].mean(axis=0), found[20:].mean(axis=0)
    spread = max(np.linalg.norm(found[:20] - middles[0], axis=1).max(), 1e-9)
    assert np.linalg.norm(middles[0] - middles[1]) > spread
    assert np.array_equal(found, lay_out(groups.astype(np.float32), 0))
    assert lay_out(np.ones((12, 8), np.float32), 0).tolist() == [[0.5, 0.5]] * 12


def test_every_figure_of_the_judge_is_a_row() -> None:
    def moved(before: float) -> dict[str, float]:
        return {"before": before, "after": before + 1.5, "low": 0.25, "high": 2.75}

    pairs = {
        "pairs": 77,
        "before": {"mrr": 0.5},
        "after": {"mrr": 0.6},
        "mrr_difference": 0.1,
        "interval": [0.05, 0.15],
    }
    judged = {
        "neighbours": {"cohesion": moved(10), "words": moved(20), "kept": 91.0},
        "pairs": {"halves": pairs},
        "details": moved(40),
    }
    page = str(_judge_table(judged))
    for figure in ("10.0", "21.5", "91", "50.0", "+10.0 (+5.0 to +15.0)", "40.0", "41.5"):
        assert f">{figure}<" in page
    assert page.count("+1.5 (+0.2 to +2.8)") == 3
    assert str(_judge_table({})) == ""


def test_command_lines_break_between_words_only() -> None:
    page = _unbroken("isotrope index <t>.csv --strip-html --output x.index")
    assert page.count('<span class="unbroken">--') == 2
    assert "&lt;t&gt;.csv " in page
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert reader.text == "isotrope index <t>.csv --strip-html --output x.index"
