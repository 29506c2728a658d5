from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest

from isotrope.io.errors import IsotropeError
from isotrope.text.cells import cell_number, cell_sentence, cell_text, is_missing


@pytest.mark.parametrize("value", [None, math.nan, np.nan, np.float32("nan"), pd.NA, pd.NaT, "", " \t\n", "\u3000"])
def test_missing(value: Any) -> None:
    assert is_missing(value)
    assert cell_text(value, "x") is None
    assert cell_sentence(value, "x") is None


@pytest.mark.parametrize("value", [0, 1.5, False, b"", [], {}, Decimal("sNaN"), np.zeros(3), math.inf])
def test_neither_missing_nor_text(value: Any) -> None:
    assert not is_missing(value)
    with pytest.raises(IsotropeError, match=r"^row 3 holds .*, not text($|; put nested fields)"):
        cell_text(value, "row 3")


@pytest.mark.parametrize("value", ["1_0", "nan", "inf", "-Infinity", "", "high", None, [], 10**400, math.nan])
def test_no_number(value: Any) -> None:
    assert cell_number(value) is None


@pytest.mark.parametrize(
    ("value", "number"), [("2.5", 2.5), (" 3 ", 3), (np.float32(0.5), 0.5), (4, 4), ("-1e-3", -1e-3)]
)
def test_number(value: Any, number: float) -> None:
    assert cell_number(value) == number


def test_text() -> None:
    assert cell_text(" a dog ", "x") == " a dog "
    assert cell_sentence(" a dog ", "x") == "a dog"
    assert cell_sentence(np.str_("\u3000Hündchen\n"), "x") == "Hündchen"
    with pytest.raises(IsotropeError, match=r"x holds '\\ud83d', half a character; write it as a pair"):
        cell_sentence("a\ud83d", "x")
    assert cell_text("a\ud83d", "x") == "a\ud83d"


def test_a_nested_field_is_shown_in_short_with_what_to_do() -> None:
    given = {"title": "3d printing", "body": "This could be a longer text about it."}
    with pytest.raises(
        IsotropeError, match=r"holds \{'title': '3d pri ... .* about it.'\}, not text; put nested fields into"
    ):
        cell_text(given, "row 1")
