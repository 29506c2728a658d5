"""The paired bootstrap: how far a figure might differ on other test items of the same kind.

Every encoder is measured on the same 1,000 resamples of the test items, so that what is easy or hard about the items
cancels in the difference of two encoders. A resample of n items is n counts, how often each was drawn; ranks and
correlations are taken of those counts, which is exactly what ranking and correlating the drawn items gives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Statistic = Literal["spearman", "pearson", "average_precision", "mean"]

RESAMPLES = 1000
COUNTS_AT_ONCE = 2**20  # which bounds the memory


@dataclass(frozen=True)
class Sample:
    """Test items that are drawn from together, and what an encoder made of each of them.

    `spearman` and `pearson` correlate the values (similarities) with the gold scores; `average_precision` is that of
    finding gold 1 among gold 0 by them; `mean` is the mean of the values (1 for an item that came out right, 0 for one
    that did not).
    """

    statistic: Statistic
    values: Floats  # (items,)
    gold: Floats | None = None  # (items,)


def resampled(samples: Sequence[Sample], *, seed: int = 0) -> Floats:
    """A figure x 100, the plain mean over the samples, on each resample: (RESAMPLES,). Equal sizes, equal draws."""
    figures = [_resampled(sample, np.random.default_rng((seed, i))) for i, sample in enumerate(samples)]
    mean: Floats = 100 * np.mean(figures, axis=0)
    return mean


def interval(differences: Floats) -> tuple[float, float]:
    """The middle 95% of the resampled differences. A resample that has no correlation (all drawn alike) is left out."""
    low, high = np.nanpercentile(differences, [2.5, 97.5])
    return float(low), float(high)


def _resampled(sample: Sample, generator: np.random.Generator) -> Floats:
    statistic = STATISTICS[sample.statistic]
    return np.concatenate([statistic(sample, counts) for counts in _draws(len(sample.values), generator)])


def _draws(items: int, generator: np.random.Generator) -> Iterator[Floats]:
    """How often each item is drawn, (some resamples, items) at a time."""
    at_once = max(1, COUNTS_AT_ONCE // items)
    for start in range(0, RESAMPLES, at_once):
        some = min(at_once, RESAMPLES - start)
        drawn = generator.integers(items, size=(some, items)) + items * np.arange(some)[:, None]
        yield np.bincount(drawn.ravel(), minlength=some * items).reshape(some, items).astype(np.float64)


def _spearman(sample: Sample, counts: Floats) -> Floats:
    return _correlation(_ranks(sample.values, counts), _ranks(_gold(sample), counts), counts)


def _pearson(sample: Sample, counts: Floats) -> Floats:
    return _correlation(sample.values[None], _gold(sample)[None], counts)


def _average_precision(sample: Sample, counts: Floats) -> Floats:
    """Items of equal similarity share a place, as in `isotrope.evaluation.ranking`."""
    order, begins = _runs(-sample.values)
    drawn = np.add.reduceat(counts[:, order], begins, axis=1)  # (resamples, distinct values)
    hits = np.add.reduceat((counts * _gold(sample))[:, order], begins, axis=1)
    found = np.cumsum(hits, axis=1)
    precision = found / np.maximum(np.cumsum(drawn, axis=1), 1)
    with np.errstate(invalid="ignore"):
        figures: Floats = (hits * precision).sum(1) / found[:, -1]
    return figures


def _mean(sample: Sample, counts: Floats) -> Floats:
    return counts @ sample.values / len(sample.values)


STATISTICS: dict[Statistic, Callable[[Sample, Floats], Floats]] = {
    "spearman": _spearman,
    "pearson": _pearson,
    "average_precision": _average_precision,
    "mean": _mean,
}


def _gold(sample: Sample) -> Floats:
    assert sample.gold is not None
    return sample.gold


def _ranks(values: Floats, counts: Floats) -> Floats:
    """The rank of each item among all that were drawn, (resamples, items); tied ones share the mean of their places."""
    order, begins = _runs(values)
    drawn = np.add.reduceat(counts[:, order], begins, axis=1)  # (resamples, distinct values)
    places = np.cumsum(drawn, axis=1) - drawn / 2 + 0.5
    ranks = np.empty_like(counts)
    ranks[:, order] = np.repeat(places, np.diff(begins, append=len(values)), axis=1)
    return ranks


def _runs(values: Floats) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The order of ascending values, and where in it each run of equal ones begins."""
    order = np.argsort(values, kind="stable")
    return order, np.flatnonzero(np.diff(values[order], prepend=np.nan) != 0)


def _correlation(x: Floats, y: Floats, counts: Floats) -> Floats:
    """Pearson's, of (resamples or 1, items) that count as often as they were drawn -> (resamples,)."""
    drawn = counts.sum(1, keepdims=True)
    x, y = (side - (counts * side).sum(1, keepdims=True) / drawn for side in (x, y))
    covariance, x_spread, y_spread = ((counts * a * b).sum(1) for a, b in ((x, y), (x, x), (y, y)))
    with np.errstate(invalid="ignore"):
        correlation: Floats = covariance / np.sqrt(x_spread * y_spread)
    return correlation
