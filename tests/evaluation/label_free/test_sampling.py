from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from isotrope.evaluation.label_free.sampling import sample_sentences

texts = st.lists(st.text(max_size=3), max_size=40)


@given(texts, st.integers(1, 10), st.randoms())
def test_each_text_once_and_whatever_their_order(some: list[str], size: int, random: object) -> None:
    found = sample_sentences(some, size)
    assert len(found) == min(size, len(set(some)))
    assert len(set(found)) == len(found)
    assert set(found) <= set(some)
    assert sample_sentences(some[::-1] + some, size) == found
    assert sample_sentences(some, size + 3)[: len(found)] == found  # a larger sample begins with the smaller one


def test_all_are_chosen_alike() -> None:
    some = [f"text {i}" for i in range(20)]
    counts = Counter(text for seed in range(2000) for text in sample_sentences(some, 5, seed))
    assert len(counts) == 20
    assert max(abs(count - 500) for count in counts.values()) < 100  # five standard deviations
