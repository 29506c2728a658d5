from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import pearsonr, spearmanr
from sklearn.metrics import average_precision_score

from isotrope.evaluation.results import resampling
from isotrope.evaluation.results.resampling import RESAMPLES, Floats, Sample, interval, resampled


def drawn_items(items: int, seed: tuple[int, int]) -> np.ndarray:
    """Which items each resample holds: (RESAMPLES, items)."""
    return np.random.default_rng(seed).integers(items, size=(RESAMPLES, items))


def graded(seed: int, items: int, values: int, grades: int) -> tuple[Floats, Floats]:
    """Few values, many ties; the first two differ, so that there is something to correlate."""
    generator = np.random.default_rng(seed)
    x, y = generator.integers(0, values, items) / values, generator.integers(0, grades, items) * 1.0
    x[:2], y[:2] = (0, 1), (0, grades)
    return x, y


@settings(deadline=None, max_examples=10)
@given(st.integers(0, 2**32 - 1), st.integers(12, 40), st.integers(2, 50), st.integers(2, 6))
def test_each_resample_is_ranked_as_scipy_ranks_the_items_that_were_drawn(
    seed: int, items: int, values: int, grades: int
) -> None:
    x, y = graded(seed, items, values, grades)
    spearman = resampled([Sample("spearman", x, y)], seed=seed)
    pearson = resampled([Sample("pearson", x, y)], seed=seed)
    for i, rows in enumerate(drawn_items(items, (seed, 0))[:50]):
        if np.ptp(x[rows]) and np.ptp(y[rows]):
            assert spearman[i] == pytest.approx(100 * spearmanr(x[rows], y[rows]).statistic, abs=1e-9)
            assert pearson[i] == pytest.approx(100 * pearsonr(x[rows], y[rows]).statistic, abs=1e-9)
        else:
            assert np.isnan(spearman[i])


def test_samples_are_drawn_each_for_itself_and_averaged() -> None:
    hits, others = np.array([1.0, 0, 0, 1, 1]), np.array([0.0, 0.5, 1])
    figures = resampled([Sample("mean", hits), Sample("mean", others)], seed=3)
    rows, other_rows = drawn_items(5, (3, 0)), drawn_items(3, (3, 1))
    assert figures == pytest.approx(100 * (hits[rows].mean(1) + others[other_rows].mean(1)) / 2)


def test_average_precision_of_each_resample_is_that_of_the_items_that_were_drawn() -> None:
    x, grades = graded(4, 30, 9, 5)
    gold = (grades > 2) * 1.0
    figures = resampled([Sample("average_precision", x, gold)], seed=2)
    for i, rows in enumerate(drawn_items(30, (2, 0))[:50]):
        assert figures[i] == pytest.approx(100 * average_precision_score(gold[rows], x[rows]), abs=1e-9)


@pytest.mark.parametrize("statistic", ["spearman", "pearson", "mean", "average_precision"])
def test_memory_is_bounded_without_changing_a_draw(monkeypatch: pytest.MonkeyPatch, statistic: str) -> None:
    x, y = graded(1, 30, 9, 5)
    sample = Sample(statistic, x, y)  # type: ignore[arg-type]
    at_once = resampled([sample])
    monkeypatch.setattr(resampling, "COUNTS_AT_ONCE", 100)  # three resamples
    assert resampled([sample]) == pytest.approx(at_once, rel=1e-12, nan_ok=True)


def test_the_interval_is_the_middle_95_percent_of_what_there_is() -> None:
    assert interval(np.arange(1001.0)) == (25, 975)
    assert interval(np.array([np.nan, 1.0, 2.0])) == pytest.approx((1.025, 1.975))


def test_a_pairwise_difference_is_surer_than_two_figures_by_themselves() -> None:
    """Which is what drawing the same items for both encoders is for."""
    generator = np.random.default_rng(0)
    gold = generator.random(400)
    first = gold + generator.normal(0, 0.5, 400)
    second = first + generator.normal(0, 0.05, 400)
    a, b = (resampled([Sample("spearman", values, gold)]) for values in (first, second))
    low, high = interval(b - a)
    alone = np.diff(interval(a))[0]
    assert high - low < alone / 3
    assert np.array_equal(a - resampled([Sample("spearman", np.exp(first), gold)]), np.zeros(RESAMPLES))


def test_it_covers_the_truth_about_as_often_as_it_says() -> None:
    """Of 200 samples of a coin that falls right 70% of the time, about 190 intervals hold 70."""
    generator = np.random.default_rng(1)
    intervals = [interval(resampled([Sample("mean", (generator.random(150) < 0.7) * 1.0)])) for _ in range(200)]
    assert 180 <= sum(low <= 70 <= high for low, high in intervals) <= 198
