"""Which pairs of texts a person should grade, so that a hundred grades say the most.

Of two models: those that they disagree about most. A cosine of 0.6 is near for one encoder and far for another, so that
what is compared is the rank of a pair among all candidates. Candidates are near neighbours under either model, and as
many pairs drawn at random: of all pairs nearly every one is of two unrelated texts. Every fourth pair is spread over
the whole range, so that the file also says how good a model is, and not only which is better. With one model all are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.stats import rankdata

from isotrope.encoders.nearest import Floats, Ints, nearest, unit_rows

NEIGHBOURS = 8  # of each text under each model
USES = 4  # how often a text may occur
SPREAD = 4  # every fourth pair is of the whole range


@dataclass(frozen=True)
class Pair:
    """Two texts by their numbers, the cosine of each model, and what they were chosen for."""

    first: int
    second: int
    cosines: tuple[float, ...]
    chosen_for: Literal["disagreement", "range"]


def choose_pairs(vectors: Sequence[Floats], count: int, seed: int = 1) -> list[Pair]:
    """At most `count` pairs of distinct texts, from one or two models' vectors (texts, dim), in a random order."""
    units = [unit_rows(one) for one in vectors]
    random = np.random.default_rng(seed)
    places = _candidates(units, random)
    if not len(places):
        return []
    cosines = np.stack([(one[places[:, 0]] * one[places[:, 1]]).sum(axis=1) for one in units])  # (models, candidates)
    ranks = np.stack([rankdata(one) / len(one) for one in cosines])
    alone = len(units) == 1
    spread = _spread(cosines[0] if alone else ranks.mean(axis=0), count if alone else -(-count // SPREAD), random)
    apart = np.argsort(-np.ptp(ranks, axis=0), kind="stable") if not alone else np.empty(0, np.int64)
    chosen = _chosen(places, count, spread.tolist(), apart.tolist())
    order = random.permutation(len(chosen))
    return [_pair(places, cosines, *chosen[i]) for i in order]


def _candidates(units: Sequence[Floats], random: np.random.Generator) -> Ints:
    """(pairs, 2), each once, the smaller number first."""
    count = len(units[0])
    if count < 2:
        return np.empty((0, 2), np.int64)
    near = [nearest(one, one, min(NEIGHBOURS + 1, count)).places for one in units]
    pairs = [np.stack([np.repeat(np.arange(count), one.shape[1]), one.ravel()], axis=1) for one in near]
    pairs.append(random.integers(0, count, (NEIGHBOURS * count, 2)))
    both = np.sort(np.concatenate(pairs), axis=1)
    return np.unique(both[both[:, 0] != both[:, 1]], axis=0)


def _spread(score: Any, count: int, random: np.random.Generator) -> Ints:
    """Candidates at even distances along a score, then all others."""
    order = np.argsort(score, kind="stable")
    wanted = np.linspace(score.min(), score.max(), count)
    even = np.unique(np.searchsorted(score[order], wanted).clip(max=len(order) - 1))
    return np.concatenate([order[even], random.permutation(np.delete(order, even))])


def _chosen(places: Ints, count: int, spread: list[int], apart: list[int]) -> list[tuple[int, bool]]:
    """Candidates and whether each stands for the range; no text more often than `USES` while others are left."""
    used: Counter[int] = Counter()
    taken: dict[int, bool] = {}
    share = count if not apart else -(-count // SPREAD)
    for most in (USES, len(places)):
        _take(spread, share, True, most, places, used, taken)
        _take(apart, count, False, most, places, used, taken)
    return list(taken.items())


def _take(
    order: Iterable[int],
    until: int,
    for_range: bool,
    most: int,
    places: Ints,
    used: Counter[int],
    taken: dict[int, bool],
) -> None:
    for one in order:
        if len(taken) >= until:
            return
        first, second = places[one].tolist()
        if one not in taken and max(used[first], used[second]) < most:
            taken[one] = for_range
            used.update((first, second))


def _pair(places: Ints, cosines: Floats, one: int, for_range: bool) -> Pair:
    first, second = places[one].tolist()
    return Pair(first, second, tuple(cosines[:, one].tolist()), "range" if for_range else "disagreement")
