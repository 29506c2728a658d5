from __future__ import annotations

import numpy as np
import pytest

from isotrope.evaluation import ranking
from isotrope.evaluation.ranking import average_precisions, unit_rows
from isotrope.io.errors import IsotropeError


def test_blocks_of_queries_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(0)
    vectors, classes = generator.normal(size=(50, 8)).astype(np.float32), generator.integers(20, size=50)
    at_once = average_precisions(vectors, classes)
    monkeypatch.setattr(ranking, "QUERIES_AT_ONCE", 7)
    assert average_precisions(vectors, classes) == pytest.approx(at_once)


def test_vectors_that_are_all_alike_are_chance() -> None:
    classes = np.repeat(np.arange(4), 25)
    assert average_precisions(np.ones((100, 3)), classes) == pytest.approx(np.full(100, 24 / 99))
    assert average_precisions(np.zeros((100, 3)), classes) == pytest.approx(np.full(100, 24 / 99))


def test_what_is_not_a_number_is_refused() -> None:
    with pytest.raises(IsotropeError, match="vectors that are not numbers"):
        unit_rows([[1.0, np.nan]])
