"""The one exception that people see: what was wrong, where, and what to do about it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from contextvars import ContextVar

IN_SHELL: ContextVar[bool] = ContextVar("in_shell", default=False)  # whether a command line is being run
LONGEST_LINE = 500  # characters of a message; what a file holds can be of any length
QUOTES = "'\""
OPTIONS = {"purpose": "for", "stand_ins": "stand-in"}  # those that are not the argument's name with hyphens


class IsotropeError(Exception):
    """A mistake that the caller can correct. The message is one line.

    Where the message names an argument of a Python function (`force=True`, `column=`), the same word is given as
    `argument`, and the command line shows its own option in its place.
    """

    def __init__(self, message: str, *, argument: str = "") -> None:
        super().__init__(message)
        self.argument = argument

    @property
    def for_shell(self) -> str:
        """The message as the command line says it: `--force` for `force=True`."""
        before, argument, after = str(self).rpartition(self.argument) if self.argument else ("", "", str(self))
        return f"{before}{_option(argument) if argument else ''}{after}"


def as_typed(argument: str) -> str:
    """An argument of a function as whoever reads it would type it: `force=True` in Python, `--force` in the shell, and
    `--for topics` there for `purpose='topics'`.
    """
    return _option(argument) if IN_SHELL.get() else argument


def nearest(name: str, known: Iterable[str]) -> str:
    """`" (did you mean 'x'?)"` for the known name closest to `name`, or nothing when none is close."""
    close = difflib.get_close_matches(name, list(known), n=1)
    return f" (did you mean '{close[0]}'?)" if close else ""


def reason(error: BaseException) -> str:
    """Why something failed, in one short line: the system's own words where it gives any."""
    words = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return one_line(str(words), 200)


def one_line(text: str, longest: int = LONGEST_LINE) -> str:
    """Text that is safe to show: one line, control characters as `\\x1b`, the middle of a long one left out."""
    shown = "".join(
        character if character.isprintable() else _spelled(character) for character in " ".join(text.split())
    )
    if len(shown) <= longest:
        return shown
    half = (longest - 5) // 2
    return f"{shown[:half]} ... {shown[-half:]}"


def _spelled(character: str) -> str:
    return character.encode("unicode_escape").decode()


def _option(argument: str) -> str:
    name, _, value = argument.partition("=")
    option = f"--{'no-' if value == 'False' else ''}{OPTIONS.get(name, name.replace('_', '-'))}"
    return option if value in ("", "True", "False") else f"{option} {value.strip(QUOTES)}"
