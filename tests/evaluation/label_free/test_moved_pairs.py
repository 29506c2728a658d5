from __future__ import annotations

import numpy as np
import pytest

from isotrope.evaluation.label_free import moved_pairs as module
from isotrope.evaluation.label_free.moved_pairs import moved_pairs
from isotrope.evaluation.label_free.verdict import unit


def clouds(count: int = 60) -> tuple[list[str], np.ndarray, np.ndarray]:
    before, noise = np.random.default_rng(1).normal(size=(2, count, 6))
    return [f"text {i}" for i in range(count)], unit(before), unit(before + noise)


def test_they_equal_the_loop_over_pairs() -> None:
    texts, before, after = clouds()
    count = len(texts)
    random_pairs = [(i, (i - shift) % count) for shift in range(1, 11) for i in range(count)]
    near = [
        (i, max((j for j in range(count) if j != i), key=lambda j: own[i] @ own[j]))
        for own in (before, after)
        for i in range(count)
    ]
    spread = [(np.mean(c), np.std(c)) for c in ([own[i] @ own[j] for i, j in random_pairs] for own in (before, after))]

    def above(side: int, i: int, j: int) -> float:
        return float(((before, after)[side][i] @ (before, after)[side][j] - spread[side][0]) / spread[side][1])

    moves = {frozenset((i, j)): above(1, i, j) - above(0, i, j) for i, j in random_pairs + near}
    closer, apart = moved_pairs(texts, before, after)
    for some, sign in ((closer, 1), (apart, -1)):
        left, wanted = dict(moves), []
        while len(wanted) < 5:
            pair = max(left, key=lambda pair: sign * left[pair])
            wanted.append((pair, left[pair]))
            left = {other: move for other, move in left.items() if not other & pair}
        for change, (pair, move) in zip(some, wanted, strict=True):
            assert {change.first, change.second} == {texts[i] for i in pair}
            assert change.above_after - change.above_before == pytest.approx(move)


def test_blocks_do_not_show_and_a_common_shift_is_no_change(monkeypatch: pytest.MonkeyPatch) -> None:
    texts, before, after = clouds()
    whole = moved_pairs(texts, before, after)
    monkeypatch.setattr(module, "QUERIES_AT_ONCE", 7)
    assert moved_pairs(texts, before, after) == whole
    assert moved_pairs(texts, before, before) == ([], [])
    wider = unit(np.hstack([before, np.ones((len(texts), 1))]))  # all cosines: half of what they were, plus a half
    for some in moved_pairs(texts, before, wider):
        assert all(abs(one.above_after - one.above_before) < 1e-9 for one in some)


def test_one_point_has_no_spread() -> None:
    texts, before, _ = clouds()
    closer, apart = moved_pairs(texts, before, unit(np.ones_like(before)))
    assert all(abs(one.above_after) < 1e-6 for one in closer + apart)


def test_placeholders_are_not_shown() -> None:
    texts, before, after = clouds()
    (first, *_), _ = moved_pairs(texts, before, after)
    without = [("N/A. -" if text == first.first else text) for text in texts]
    shown = [side for some in moved_pairs(without, before, after) for one in some for side in (one.first, one.second)]
    assert "N/A. -" not in shown
