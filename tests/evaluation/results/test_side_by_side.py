from __future__ import annotations

import math
import statistics
import zlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isotrope.evaluation.results.resampling import Sample, interval, resampled
from isotrope.evaluation.results.side_by_side import (
    AVERAGE,
    Cell,
    Column,
    Measured,
    Row,
    Section,
    measure,
    side_by_side,
)
from isotrope.evaluation.tasks import Figure, Outcome
from isotrope.io.errors import IsotropeError

TWO = Section("STS", "spearman", ("a", "b"))


def measured(**figures: float) -> Measured:
    return Measured("m", {task: Outcome({"spearman": Figure(figure)}, {}) for task, figure in figures.items()})


def row(name: str, *members: Measured) -> Row:
    return Row(name, "mean", members)


figure = st.floats(0, 100, allow_nan=False)


@given(st.lists(st.tuples(figure, figure), min_size=1, max_size=4))
def test_means_and_deviations_over_seeds_also_of_the_average(seeds: list[tuple[float, float]]) -> None:
    columns = side_by_side([row("x", *(measured(a=a, b=b) for a, b in seeds))], [TWO])
    assert [column.task for column in columns] == ["a", "b", AVERAGE]
    expected = [*zip(*seeds, strict=True), [(a + b) / 2 for a, b in seeds]]
    for column, values in zip(columns, expected, strict=True):
        (cell,) = column.cells
        assert cell.value == pytest.approx(statistics.mean(values))
        assert cell.deviation == (pytest.approx(statistics.stdev(values), abs=1e-9) if len(seeds) > 1 else None)
        assert cell.difference is None


def test_one_task_has_no_average_and_each_section_its_own() -> None:
    sections = [TWO, Section("Other", "spearman", ("c",))]
    columns = side_by_side([row("x", measured(a=10, b=30, c=50))], sections)
    assert [(column.section.title, column.task, column.cells[0].value) for column in columns] == [
        ("STS", "a", 10),
        ("STS", "b", 30),
        ("STS", AVERAGE, 20),
        ("Other", "c", 50),
    ]


def test_what_could_not_be_measured_has_no_average_either() -> None:
    columns = side_by_side([row("x", measured(a=10)), row("y", measured(a=5, b=7))], [TWO], resample=True)
    assert math.isnan(columns[1].cells[0].value)
    assert math.isnan(columns[2].cells[0].value)
    assert columns[2].cells[1] == Cell(6.0)
    assert [columns[1].best(i) for i in (0, 1)] == [False, True]


def test_the_best_is_best_as_it_is_shown() -> None:
    column = Column(TWO, "a", [Cell(70.001), Cell(70.004), Cell(69.99), Cell(math.nan)])
    assert [column.best(i) for i in range(4)] == [True, True, False, False]
    assert not Column(TWO, "a", [Cell(70.0)]).best(0)
    assert not Column(TWO, "a", [Cell(math.nan), Cell(math.nan)]).best(0)


def graded(seed: int, noise: float) -> Measured:
    """Two tasks of 60 pairs; the gold scores are the same for all."""
    outcomes = {}
    for number, task in enumerate("ab"):
        gold = np.random.default_rng(number).random(60)
        values = gold + np.random.default_rng(10 + seed).normal(0, noise, 60)
        sample = Sample("pearson", values, gold)
        figure = Figure(100 * float(np.corrcoef(values, gold)[0, 1]), (sample,))
        outcomes[task] = Outcome({"spearman": figure}, {})
    return Measured("m", outcomes)


def test_intervals_are_of_the_difference_to_the_first_row_over_the_same_draws() -> None:
    good, bad, other = graded(0, 0.1), graded(1, 1.0), graded(2, 1.1)
    columns = side_by_side([row("bad", bad), row("good", good), row("seeds", bad, other)], [TWO], resample=True)
    for column in columns:
        first, better, seeds = column.cells
        assert first.difference is None
        assert better.difference is not None
        assert seeds.difference is not None
        assert better.difference.value == pytest.approx(better.value - first.value)
        assert 0 < better.difference.low < better.difference.value < better.difference.high
        assert seeds.difference.value == pytest.approx(seeds.value - first.value)
        assert seeds.difference.low < seeds.difference.value < seeds.difference.high
    same = side_by_side([row("bad", bad), row("again", bad)], [TWO], resample=True)
    assert [column.cells[1].difference for column in same] == [(0, 0, 0)] * 3


def test_the_interval_of_the_average_is_that_of_averaged_draws() -> None:
    good, bad = graded(0, 0.1), graded(1, 1.0)
    columns = side_by_side([row("bad", bad), row("good", good)], [TWO], resample=True)
    alone = {
        task: side_by_side([row("bad", bad), row("good", good)], [Section("", "spearman", (task,))], resample=True)[0]
        for task in "ab"
    }
    assert [column.cells for column in columns[:2]] == [alone["a"].cells, alone["b"].cells]  # draws go by the task
    draws = []
    for task in "ab":
        seed = zlib.crc32(f"spearman {task}".encode())
        first, second = (resampled(one.outcomes[task].figures["spearman"].samples, seed=seed) for one in (bad, good))
        draws.append(second - first)
    assert columns[2].cells[1].difference[1:] == pytest.approx(interval(np.mean(draws, axis=0)))  # type: ignore[index]


def test_an_encoder_that_fails_is_an_error_unless_forgiven() -> None:
    class Failing:
        name, split, items = "x", None, ""
        sentences: tuple[str, ...] = ()

        def measure(self, vectors: Any, batch_size: int = 64) -> Outcome:
            raise IsotropeError("no vectors")

    found = Measured("m", {})
    with pytest.raises(IsotropeError, match="no vectors"):
        measure(None, Failing(), found)  # type: ignore[arg-type]
    measure(None, Failing(), found, forgiving=True)  # type: ignore[arg-type]
    assert (found.outcomes, found.problems) == ({}, {"x": "no vectors"})
