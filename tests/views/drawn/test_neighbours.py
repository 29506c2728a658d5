"""Which rows are neighbours, held against loops, and how one of them is drawn."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from isotrope.views.drawn import DRAWN, Chance, Draw, Ground
from isotrope.views.drawn.neighbours import NONE, neighbours_of

ROWS, DIM = 40, 6


def vectors(seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(ROWS, DIM)).astype(np.float32)


def naive(found: np.ndarray, keys: np.ndarray, k: int, mutual: bool, left_out: frozenset[int]) -> list[list[int]]:
    """Row by row; the same text counts once."""
    unit = found.astype(np.float64) / np.linalg.norm(found.astype(np.float64), axis=1, keepdims=True)
    once = [row for row in range(ROWS) if row not in left_out]
    once = [row for row in once if not any(keys[row] == keys[other] for other in once if other < row)]

    def nearest(row: int) -> list[int]:
        others = [other for other in once if keys[other] != keys[row]]
        return sorted(others, key=lambda other: -float(unit[row] @ unit[other]))[:k]

    table = []
    for row in range(ROWS):
        mine = nearest(row)
        if mutual:
            mine = [o for o in mine if unit[row] @ unit[o] >= unit[o] @ unit[nearest(o)[-1]] - 1e-9]
        table.append(mine)
    return table


@pytest.mark.parametrize("mutual", [True, False])
@pytest.mark.parametrize("k", [1, 4])
def test_neighbours_are_those_of_the_loops(k: int, mutual: bool) -> None:
    keys = np.arange(ROWS)
    keys[7] = keys[3]  # a text that comes twice; its vectors are the same
    found = vectors()
    found[7] = found[3]
    left_out = frozenset({0, 11})
    table = neighbours_of(found, keys, k, mutual=mutual, left_out=left_out)
    assert [[row for row in one if row != NONE] for one in table.tolist()] == naive(found, keys, k, mutual, left_out)
    assert table.shape == (ROWS, k)
    assert not {0, 11, 7} & set(table.ravel().tolist())  # held out, and the second of two that are the same
    if mutual:
        for row, one in enumerate(table.tolist()):
            if row not in (0, 11, 7):
                assert all(row in table[other] for other in one if other != NONE)


def ground(folder: Path, now: Any = None) -> Ground:
    corpus: Any = SimpleNamespace(keys=np.arange(ROWS)[:, None], columns=("text",))
    asked: Any = lambda model: vectors()  # noqa: E731
    return Ground("second", "text", corpus, frozenset(), None, folder, asked, now, nullcontext)  # type: ignore[arg-type]


def drawn(draw: Draw, batches: int = 40) -> list[set[int]]:
    return [{draw.row(row, Chance.of(batch, row, "second")) for batch in range(batches)} for row in range(ROWS)]


def test_one_of_them_is_drawn_or_the_sentence_itself(tmp_path: Path) -> None:
    draw = DRAWN.make("neighbours", k=3).prepare(ground(tmp_path))
    table = np.load(tmp_path / "neighbours-0.npy")
    for row, seen in enumerate(drawn(draw)):
        assert seen == (set(table[row].tolist()) - {NONE} or {row})
    assert any((one == NONE).all() for one in table)
    chance = Chance.of(5, 2, "second"), Chance.of(5, 2, "second")
    assert draw.row(2, chance[0]) == draw.row(2, chance[1])


def test_they_are_looked_for_again_by_what_the_student_has_become(tmp_path: Path) -> None:
    asked: list[int] = []

    def now() -> np.ndarray:
        asked.append(len(asked))
        return vectors(seed=len(asked))

    spec = DRAWN.make("neighbours", k=3, recompute=4)
    draw = spec.prepare(ground(tmp_path, now))
    tables = []
    for step in range(10):
        draw.at(step)
        tables.append(drawn(draw))
    assert tables[0] == tables[3] != tables[4] == tables[7] != tables[8] == tables[9]
    assert len(asked) == 2
    resumed = spec.prepare(ground(tmp_path, now))  # at step 6: what was found at step 4 is on disk
    resumed.at(6)
    assert drawn(resumed) == tables[6]
    assert len(asked) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"neighbours-{step}.npy" for step in (0, 4, 8)]


def test_without_recompute_nothing_is_looked_for_again(tmp_path: Path) -> None:
    draw = DRAWN.make("neighbours", k=3).prepare(ground(tmp_path))
    before = drawn(draw)
    draw.at(100)
    assert drawn(draw) == before
