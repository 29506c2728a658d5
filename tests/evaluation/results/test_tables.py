from __future__ import annotations

import csv
import io
import json
import math

import pytest

from isotrope.evaluation.results.results import Results
from isotrope.evaluation.results.side_by_side import Cell, Column, Difference, Interval, Measured, Row, Section
from isotrope.evaluation.results.tables import blocks, rich_tables

STS = Section("STS", "spearman", ("stsb", "sts17:track1.ar-ar"))
SPEARMAN, PEARSON = (Section("Argument similarity", metric, ("arguments",)) for metric in ("spearman", "pearson"))


@pytest.fixture
def results() -> Results:
    """Three rows: a model that nobody knows, a run that saw test sentences, and three seeds that saw none."""
    columns = [
        Column(STS, "stsb", [Cell(56.004), Cell(70.5, None, Difference(14.496, 10, 18.04)), Cell(70.499, 0.25)]),
        Column(STS, "sts17:track1.ar-ar", [Cell(40.0), Cell(math.nan), Cell(41.0, 0.0, Difference(1, -0.5, 2.5))]),
        Column(STS, "average", [Cell(48.0), Cell(math.nan), Cell(55.75, 0.125)]),
        Column(SPEARMAN, "arguments", [Cell(20.0), Cell(21.0), Cell(22.0, 1.0)]),
        Column(PEARSON, "arguments", [Cell(23.0), Cell(22.0), Cell(21.0, 1.0)]),
    ]
    run = Measured("runs/a_1", {}, {"sts17:track1.ar-ar": "no cosine"}, {"stsb": 1200, "arguments": 0})
    seeds = tuple(Measured(f"s{seed}", {}, {}, {"stsb": 0}) for seed in (1, 2, 3))
    rows = [
        Row("bundled", "cls", (Measured("bundled", {}),)),
        Row("runs/a_1", "mean", (run,)),
        Row("s|[x]", "mean", seeds),
    ]
    items = {"stsb": "1,379 pairs", "arguments": "3,595 pairs"}
    return Results(
        rows, columns, items, {"stsb": 2552, "arguments": 9}, ["cr", "trec"], "papers", ["Transfer tasks: so"]
    )


def test_a_table_for_each_section_and_one_for_two_figures_of_one_task(results: Results) -> None:
    found = blocks(results.columns)
    assert [(block.title, [block.head(column) for column in block.columns]) for block in found] == [
        ("STS, Spearman x 100", ["stsb", "1.ar-ar", "Average"]),
        ("Argument similarity x 100", ["Spearman", "Pearson"]),
    ]


def test_markdown(results: Results) -> None:
    assert results.markdown().splitlines() == [
        "**STS, Spearman x 100**",
        "",
        "| Model | Pooling | stsb | 1.ar-ar | Average |",
        "| --- | --- | ---: | ---: | ---: |",
        "| bundled ? | cls | 56.00 | 40.00 | 48.00 |",
        "| runs/a_1 † | mean | **70.50** | - | - |",
        r"| s\|[x] | mean | **70.50 ± 0.25** | **41.00 ± 0.00** | **55.75 ± 0.12** |",
        "",
        "Difference from bundled (cls), with the 95% interval of a paired bootstrap over the test items:",
        "",
        "| Model | Pooling | stsb | 1.ar-ar | Average |",
        "| --- | --- | --- | --- | --- |",
        "| runs/a_1 † | mean | +14.50 [+10.0, +18.0] | - | - |",
        r"| s\|[x] | mean | - | +1.00 [-0.5, +2.5] | - |",
        "",
        "**Argument similarity x 100**",
        "",
        "| Model | Pooling | Spearman | Pearson |",
        "| --- | --- | ---: | ---: |",
        "| bundled ? | cls | 20.00 | **23.00** |",
        "| runs/a_1 † | mean | 21.00 | 22.00 |",
        r"| s\|[x] | mean | **22.00 ± 1.00** | 21.00 ± 1.00 |",
        "",
        "Difference from bundled (cls), with the 95% interval of a paired bootstrap over the test items:",
        "",
        "| Model | Pooling | Spearman | Pearson |",
        "| --- | --- | --- | --- |",
        "| runs/a_1 † | mean | - | - |",
        r"| s\|[x] | mean | - | - |",
        "",
        "s|[x]: mean ± standard deviation of 3 seeds (s1, s2, s3)  ",
        "† trained on text that contains test sentences, without their labels, as in the papers:  ",
        "  runs/a_1: stsb 1,200 of 2,552  ",
        "? unknown whether its training text contains test sentences: no run folder  ",
        "- runs/a_1: sts17:track1.ar-ar: no cosine  ",
        "Transfer tasks: so  ",
        "Not measured, because the data is missing: cr, trec",
    ]


def test_latex(results: Results) -> None:
    lines = results.latex().splitlines()
    assert lines[:8] == [
        "% STS, Spearman x 100",
        r"\begin{tabular}{llrrr}",
        r"\toprule",
        r"Model & Pooling & stsb & 1.ar-ar & Average \\",
        r"\midrule",
        r"bundled $^?$ & cls & 56.00 & 40.00 & 48.00 \\",
        r"runs/a\_1 $^\dagger$ & mean & \textbf{70.50} & - & - \\",
        r"s|[x] & mean & \textbf{70.50 $\pm$ 0.25} & \textbf{41.00 $\pm$ 0.00} & \textbf{55.75 $\pm$ 0.12} \\",
    ]
    assert lines[-1] == "% Not measured, because the data is missing: cr, trec"
    assert results.latex().count(r"\bottomrule") == 2


def test_csv_and_json_have_every_figure_with_all_that_belongs_to_it(results: Results) -> None:
    lines = list(csv.DictReader(io.StringIO(results.csv())))
    assert len(lines) == len(results.records()) == 5 * 3
    assert lines[1] == {
        "model": "runs/a_1",
        "pooling": "mean",
        "group": "STS",
        "task": "stsb",
        "metric": "spearman",
        "figure": "70.5",
        "deviation": "",
        "seeds": "1",
        "difference": "14.5",
        "low": "10",
        "high": "18.04",
        "figure_low": "",
        "figure_high": "",
    }
    assert (lines[4]["figure"], lines[5]["deviation"], lines[5]["seeds"]) == ("", "0.0", "3")
    found = json.loads(json.dumps(results.as_dict(), allow_nan=False))
    assert [
        {key: "" if value is None else str(value) for key, value in one.items()} for one in found["figures"]
    ] == lines
    assert found["absent"] == ["cr", "trec"]
    assert [one["seen"] for one in found["encoders"]] == [None, {"stsb": 1200, "arguments": 0}, *[{"stsb": 0}] * 3]
    assert found["encoders"][1]["problems"] == {"sts17:track1.ar-ar": "no cosine"}


def test_without_marks_and_differences_there_are_just_the_figures(results: Results) -> None:
    bare = Results(results.rows[:1], [Column(STS, "stsb", [Cell(56.0)])], results.items)
    assert len(list(rich_tables(bare))) == 1
    assert list(bare.notes()) == []
    assert bare.mark(results.rows[1]) == ""
    assert "Difference" not in bare.markdown()


def test_on_the_terminal_the_differences_come_behind_the_figures(results: Results) -> None:
    titles = [str(table.title) for table in rich_tables(results)]
    assert titles[:2] == ["STS, Spearman x 100", "Argument similarity x 100"]
    assert all(title.startswith("Difference from bundled (cls), ") for title in titles[2:])
    assert len(titles) == 4


def test_the_interval_of_a_figure_stands_beside_it(results: Results) -> None:
    cell = Cell(81.64, interval=Interval(72.44, 87.8))
    shown = Results(results.rows[:1], [Column(STS, "stsb", [cell])], results.items)
    assert "| bundled | cls | 81.64 [72.4, 87.8] |" in shown.markdown()
    assert "[72.4, 87.8]" in str(shown)
    assert (shown.records()[0]["figure_low"], shown.records()[0]["figure_high"]) == (72.44, 87.8)
