from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from isotrope.text.permutation import permuted


@given(size=st.integers(1, 3000), seed=st.integers(-(2**70), 2**70), epoch=st.integers(0, 10**6))
@example(size=2**10, seed=0, epoch=0)
@example(size=2**10 + 1, seed=0, epoch=0)
def test_permuted_is_a_permutation_of_any_size(size: int, seed: int, epoch: int) -> None:
    assert sorted(permuted(0, size, size, seed, epoch).tolist()) == list(range(size))


@given(size=st.integers(1, 2**40), cut=st.integers(0, 60), seed=st.integers(0, 99))
def test_permuted_by_parts_is_the_whole(size: int, cut: int, seed: int) -> None:
    start, stop = max(0, size - 60), size
    whole = permuted(start, stop, size, seed, 1)
    middle = min(stop, start + cut)
    parts = [permuted(start, middle, size, seed, 1), permuted(middle, stop, size, seed, 1)]
    assert np.concatenate(parts).tolist() == whole.tolist()
    assert whole.min() >= 0
    assert whole.max() < size
    assert len(set(whole.tolist())) == len(whole)


def test_permutations_are_as_good_as_drawn() -> None:
    """All orders of four come about equally often; neighbours and epochs have nothing to do with one another."""
    orders = Counter(tuple(permuted(0, 4, 4, seed, 0).tolist()) for seed in range(4800))
    deviation = sum((found - 200) ** 2 / 200 for found in orders.values())  # chi-squared, 23 degrees of freedom
    assert len(orders) == 24
    assert deviation < 50
    first, second = (permuted(0, 5000, 5000, 1, epoch) for epoch in (0, 1))
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.06
    assert abs(np.corrcoef(first[1:], first[:-1])[0, 1]) < 0.06
    assert (first == second).sum() < 10
    assert (first == permuted(0, 5000, 5000, 2, 0)).sum() < 10
