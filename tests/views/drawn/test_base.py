"""Chance of a row, and texts drawn by other people's code."""

from __future__ import annotations

import random
from typing import Any

import pytest

from isotrope.io.errors import IsotropeError
from isotrope.views.drawn import Chance, Draw, Ground

from .naive import NOTHING, draw_of, drawn


def test_chance_is_a_rows_own() -> None:
    def numbers(*key: Any) -> tuple[float, float]:
        chance = Chance.of(*key)
        return chance.own.random(), chance.common.random()

    assert numbers(5, 1, "first") == numbers(5, 1, "first")
    own, common = numbers(5, 1, "first")
    assert numbers(5, 1, "second")[0] != own
    assert numbers(5, 1, "second")[1] == common  # the same to both views
    for other in ((6, 1, "first"), (5, 2, "first")):
        assert numbers(*other)[0] != own
        assert numbers(*other)[1] != common


def shorten(text: str, *, chance: random.Random, rate: float = 0.5) -> str:
    return " ".join(word for word in text.split() if chance.random() >= rate) or text


def test_a_function_of_ones_own() -> None:
    found = drawn(draw_of(shorten, rate=0.3), "one two three four five", 50)
    assert len(set(found)) > 5
    assert found == drawn(draw_of(shorten, rate=0.3), "one two three four five", 50)
    with pytest.raises(IsotropeError, match="no such key"):
        draw_of(shorten, chance=3)


class Next(Draw):
    def __init__(self, ground: Ground, *, by: int = 1) -> None:
        self.column, self.by = ground.column, by

    def row(self, row: int, chance: Chance) -> int:
        return row + self.by


def test_a_class_of_ones_own_is_given_the_ground() -> None:
    draw: Any = draw_of(Next, by=2)
    assert (draw.column, draw.row(5, NOTHING), draw.text("as it is", NOTHING)) == ("text", 7, "as it is")


@pytest.mark.parametrize("given", ["", "  ", None, 3])
def test_a_function_that_gives_no_text(given: Any) -> None:
    def broken(text: str, *, chance: random.Random) -> Any:
        return given

    with pytest.raises(IsotropeError, match="must return a text that is not blank; it returned"):
        drawn(draw_of(broken), "text", 1)
