from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from isotrope.training.ppmi import cooccurrences, ppmi, ppmi_vectors


def naive_counts(sentences: list[list[int]], window: int) -> Counter[tuple[int, int]]:
    counts: Counter[tuple[int, int]] = Counter()
    for ids in sentences:
        for i in range(len(ids)):
            for j in range(len(ids)):
                if i != j and abs(i - j) <= window:
                    counts[ids[i], ids[j]] += 1
    return counts


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(st.integers(0, 5), max_size=7), min_size=1, max_size=5), st.integers(1, 4))
def test_ppmi_is_that_of_a_naive_count(sentences: list[list[int]], window: int) -> None:
    tokens = np.array([token for ids in sentences for token in ids], dtype=np.uint16)
    sentence = np.repeat(np.arange(len(sentences)), [len(ids) for ids in sentences])
    counts = cooccurrences(tokens, sentence, 6, window)
    naive = naive_counts(sentences, window)
    assert all(counts[a, b] == naive[a, b] for a in range(6) for b in range(6))
    total = sum(naive.values())
    row = [sum(naive[a, b] for b in range(6)) for a in range(6)]
    found = ppmi(counts)
    for a in range(6):
        for b in range(6):
            wanted = max(0.0, math.log(naive[a, b] * total / (row[a] * row[b]))) if naive[a, b] else 0.0
            assert float(found[a, b]) == pytest.approx(wanted, abs=1e-5)


def test_counting_in_chunks_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(0)
    tokens, sentence = generator.integers(0, 9, 100), np.repeat(np.arange(20), 5)
    wanted = cooccurrences(tokens, sentence, 9, 3)
    monkeypatch.setattr("isotrope.training.ppmi.CHUNK", 7)
    assert torch.equal(cooccurrences(tokens, sentence, 9, 3), wanted)


def test_word_vectors_tell_what_occurs_together() -> None:
    """Words 0 to 3 meet one another, and 4 to 7 do; word 8 never comes."""
    generator = np.random.default_rng(0)
    groups = [generator.integers(0, 4, 6) + 4 * (k % 2) for k in range(200)]
    tokens, sentence = np.concatenate(groups), np.repeat(np.arange(200), 6)
    vectors = ppmi_vectors(tokens, sentence, 9, 4, std=0.04)
    assert vectors.shape == (9, 4)
    unit = torch.nn.functional.normalize(vectors[:8], dim=1)
    cosine = unit @ unit.T
    assert cosine[:4, :4].min() > 0.7
    assert cosine[:4, 4:].max() < 0.3
    assert float(vectors[8].norm()) > 0
    state = torch.get_rng_state()
    assert torch.equal(ppmi_vectors(tokens, sentence, 9, 4, std=0.04), vectors)
    assert torch.equal(torch.get_rng_state(), state)
