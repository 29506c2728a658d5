"""One cell of a table: is it text, a number, missing, or something else."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

from isotrope.io.errors import IsotropeError, one_line

MISSING_TYPES = ("NAType", "NaTType")  # pandas', which need not be installed


def is_missing(value: Any) -> bool:
    """None, NaN, pandas' NA, or a string of nothing but blanks."""
    if isinstance(value, str):
        return not value.strip()
    return value is None or type(value).__name__ in MISSING_TYPES or (isinstance(value, Real) and value != value)


def cell_number(value: Any) -> float | None:
    """A finite number, or None for anything else. Python's own spellings, such as `1_0` for 10, are no data's."""
    if isinstance(value, str) and "_" in value:
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def cell_text(value: Any, where: str) -> str | None:
    """The text as it is; None where it is missing. Anything else is an error."""
    if is_missing(value):
        return None
    if not isinstance(value, str):
        nested = "; put nested fields into columns of their own first" if isinstance(value, dict | list) else ""
        raise IsotropeError(f"{where} holds {one_line(repr(value), 40)}, not text{nested}")
    return value


def cell_sentence(value: Any, where: str) -> str | None:
    """The same, without the blanks around it and fit for a tokenizer."""
    text = cell_text(value, where)
    if text is None or text.isascii():
        return text and text.strip()
    try:
        text.encode()
    except UnicodeEncodeError as error:  # JSON can spell half a surrogate pair
        raise IsotropeError(f"{where} holds {text[error.start]!r}, half a character; write it as a pair") from error
    return text.strip()
