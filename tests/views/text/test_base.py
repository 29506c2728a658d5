from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from isotrope.views.text.base import Outcome, draws, outcomes


class Plain:
    @property
    def parameters(self) -> dict[str, Any]:
        return {"kind": "plain"}

    def __call__(self, sentences: Sequence[str]) -> list[str]:
        return [sentence.upper() for sentence in sentences]


class Reasoning(Plain):
    def outcomes(self, sentences: Sequence[str]) -> list[Outcome]:
        return [Outcome("", "too loud") for _ in sentences]


def test_a_view_that_has_reasons_is_asked_for_them() -> None:
    assert outcomes(Plain(), ["a", ""]) == [Outcome("A"), Outcome("")]
    assert outcomes(Reasoning(), ["a"]) == [Outcome("", "too loud")]


@given(st.text(), st.integers(0, 2**40))
def test_chance_is_a_function_of_seed_and_text(text: str, seed: int) -> None:
    random.seed(seed)
    assert draws(text, seed).random() == draws(text, seed).random()
    assert draws(text, seed).random() != draws(text, seed + 1).random()
    assert draws(text, seed).random() != draws(f"{text}.", seed).random()


def test_chance_is_the_same_in_every_process() -> None:
    assert draws("A dog.", 1).randrange(10**6) == 541_788
