"""Pictures of single pairs: what they show is what the encoder gives, and it is looked at once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import isotrope
from isotrope.evaluation import Pairs, load_pairs
from isotrope.papers.points import DRAWN, POINTS, gold_and_cosine, on_a_plane
from isotrope.papers.published import Published, reproductions
from isotrope.papers.reproduction import reproduce
from isotrope.papers.workshop import DIGEST

PAIRS = Pairs(
    [f"one {k}" for k in range(90)],
    [f"other {k}" for k in range(60)] + [f"one {k}" for k in range(60, 90)],  # the last are twice the same sentence
    [5.0] * 30 + [0.0] * 30 + [5.0] * 15 + [0.0] * 15,
    ["all"] * 90,
)


class Alike:
    """Both sides of the first thirty pairs have nearly one vector, all others have their own."""

    def encode(self, sentences: list[str], *, batch_size: int = 64) -> np.ndarray[Any, Any]:
        return np.stack([self._vector(*text.split()) for text in sentences])

    def _vector(self, side: str, number: str) -> np.ndarray[Any, Any]:
        shared = np.random.default_rng(int(number)).normal(size=16)
        own = np.random.default_rng([int(number), len(side)]).normal(size=16)
        return shared + 0.01 * own if int(number) < 30 else own


def test_cosines_stand_beside_their_grades(tiny: str) -> None:
    encoder, pairs = isotrope.load(tiny), load_pairs("bundled", split="dev")
    found = gold_and_cosine(encoder, pairs)
    assert found["gold"] == pairs.scores
    for place in (0, 17, len(pairs.scores) - 1):
        a, b = (encoder.encode([side[place]])[0].astype(float) for side in (pairs.sentences1, pairs.sentences2))
        assert found["cosine"][place] == pytest.approx(a @ b / np.linalg.norm(a) / np.linalg.norm(b), abs=1e-4)


def test_the_plane_has_pairs_of_both_ends_and_those_alike_are_near() -> None:
    found = on_a_plane(Alike(), PAIRS)
    assert found["gold"] == [5.0] * DRAWN + [0.0] * DRAWN
    assert found == on_a_plane(Alike(), PAIRS)
    apart = np.hypot(*(np.subtract(found[f"{axis}1"], found[f"{axis}2"]) for axis in "xy"))
    assert apart[:DRAWN].max() < np.median(apart[DRAWN:])
    few = PAIRS.rows([0, 1, 2, 30, 31, 32, 70])
    assert on_a_plane(Alike(), few)["gold"] == [5.0] * 3 + [0.0] * 3


@pytest.mark.parametrize("kind", POINTS)
def test_such_a_picture_is_drawn_and_looked_at_once(
    kind: str, tiny: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = {"name": "mine/figure1", "label": "Figure 1", "paper": "Mine", "caption": "A figure.", "metric": "x 100"}
    rows = [{"name": pooling, "run": {"pooling": pooling}} for pooling in ("cls", "mean")]
    columns = [{"name": "dev", "task": "bundled", "split": "dev"}]
    table = Published(**words, columns=columns, rows=rows, picture={"kind": kind})  # type: ignore[arg-type]
    found = reproduce(table, model=tiny, output=tmp_path)
    assert (tmp_path / "mine-figure1.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (tmp_path / "mine-figure1.html").read_text()
    kept = [json.loads(file.read_text()) for file in sorted(tmp_path.glob(f"points/{kind}-bundled@dev/*.json"))]
    shown = ({key: values for key, values in one.items() if key != DIGEST} for one in kept)
    assert sorted(map(str, shown)) == sorted(str(one.points[0]) for one in found.rows)
    monkeypatch.setitem(POINTS, kind, lambda encoder, pairs: pytest.fail("looked at twice"))
    assert reproduce(table, model=tiny, output=tmp_path).rows == found.rows


def test_the_papers_pictures_of_pairs_have_pairs() -> None:
    drawn = {table.name: table.pictured for table in reproductions() if table.picture.kind in POINTS}
    assert {name: column.task for name, column in drawn.items()} == dict.fromkeys(
        ("sg-opt/figure5", "sg-opt/figure6", "consert/figure1"), "stsb"
    )
