from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score

from isotrope.evaluation.ranking import average_precision, average_precisions


def naive_average_precision(similarities: list[float], relevant: list[bool]) -> float:
    """Of each relevant item: among all that are at least as similar, the share that is relevant; their mean."""
    precisions = []
    for i in range(len(similarities)):
        if not relevant[i]:
            continue
        above = hits = 0
        for j in range(len(similarities)):
            if similarities[j] >= similarities[i]:
                above += 1
                hits += relevant[j]
        precisions.append(hits / above)
    return sum(precisions) / len(precisions)


def naive_average_precisions(vectors: list[list[float]], classes: list[int]) -> list[float]:
    found = []
    for i in range(len(vectors)):
        others = [j for j in range(len(vectors)) if j != i]
        relevant = [classes[j] == classes[i] for j in others]
        if any(relevant):
            cosines = []
            for j in others:
                dot = sum(a * b for a, b in zip(vectors[i], vectors[j], strict=True))
                lengths = sqrt(sum(a * a for a in vectors[i])) * sqrt(sum(b * b for b in vectors[j]))
                cosines.append(dot / lengths)
            found.append(naive_average_precision(cosines, relevant))
    return found


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 2**32 - 1), st.integers(2, 30), st.integers(1, 6))
def test_of_classes(seed: int, texts: int, kinds: int) -> None:
    generator = np.random.default_rng(seed)
    vectors, classes = generator.normal(size=(texts, 5)), generator.integers(kinds, size=texts)
    found = average_precisions(vectors, classes) if len(set(classes)) < texts else []
    assert list(found) == pytest.approx(naive_average_precisions(vectors.tolist(), classes.tolist()), abs=1e-10)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(1, 50))
def test_of_pairs_with_many_equals(seed: int, pairs: int, values: int) -> None:
    generator = np.random.default_rng(seed)
    similarities, same = generator.integers(values, size=pairs) / values, generator.integers(2, size=pairs)
    same[0] = 1
    found = average_precision(similarities, same)
    assert found == pytest.approx(naive_average_precision(similarities.tolist(), same.astype(bool).tolist()), abs=1e-10)
    assert found == pytest.approx(average_precision_score(same, similarities), abs=1e-10)
