"""The one exception that people see: what was wrong, where, and what to do about it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class IsotropeError(Exception):
    """A mistake that the person who called can put right. The message is one line."""


def nearest(name: str, known: Iterable[str]) -> str:
    """`" (did you mean 'x'?)"` for the known name closest to `name`, or nothing when none is close."""
    close = difflib.get_close_matches(name, list(known), n=1)
    return f" (did you mean '{close[0]}'?)" if close else ""
