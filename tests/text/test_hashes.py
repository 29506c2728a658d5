from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from isotrope.text.hashes import FEWEST_SLOTS, FULL, HashSet, hash_texts

texts = st.lists(st.text(max_size=3))


@given(st.lists(st.lists(st.one_of(st.integers(0, 40), st.integers(0, 2**64 - 1)))))
@settings(deadline=None)
def test_it_is_a_set(chunks: list[list[int]]) -> None:
    found, seen = HashSet(), set[int]()
    for chunk in chunks:
        new = found.add(np.array(chunk, dtype=np.uint64))
        for value, is_new in zip(chunk, new.tolist(), strict=True):
            assert is_new == (max(value, 1) not in seen)  # 0 is kept as 1
            seen.add(max(value, 1))
        assert len(found) == len(seen)


def test_it_grows_and_forgets_nothing() -> None:
    generator = np.random.default_rng(0)
    found = HashSet()
    values = generator.integers(1, 2**63, 5 * FEWEST_SLOTS).astype(np.uint64)
    chunks = np.array_split(values, 300)
    assert all(found.add(chunk).all() for chunk in chunks)
    assert not any(found.add(chunk[::-1]).any() for chunk in chunks)
    assert len(found) == len(values)
    assert found.nbytes == 8 * FEWEST_SLOTS * 8  # the next power of two
    assert len(found) <= FULL * found.nbytes / 8


def test_hashes_that_all_want_the_same_slot_find_places() -> None:
    found = HashSet()
    crowd = (np.arange(1, 3000, dtype=np.uint64) << np.uint64(32)) + np.uint64(5)
    assert found.add(crowd).all()
    assert not found.add(crowd).any()


@given(texts, texts)
@settings(deadline=None)
def test_equal_rows_have_equal_hashes_and_others_do_not(one: list[str], other: list[str]) -> None:
    rows = list(zip(one, other, strict=False))
    hashes = hash_texts([a for a, _ in rows], [b for _, b in rows])
    assert hashes.dtype == np.uint64
    assert len(set(hashes.tolist())) == len(set(rows))


def test_a_boundary_between_columns_counts() -> None:
    assert len(set(hash_texts(["ab", "a", "b"], ["c", "bc", "ac"]).tolist())) == 3
    assert hash_texts([], []).shape == (0,)
