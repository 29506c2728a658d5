from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isotrope.io.errors import IsotropeError, one_line, reason


def test_the_command_line_shows_options_where_python_shows_arguments() -> None:
    for argument, option in {
        "force=True": "--force",
        "cache=False": "--no-cache",
        "batch_size=": "--batch-size",
        "purpose=": "--for",
        "purpose='topics'": "--for topics",
    }.items():
        error = IsotropeError(f"force=True.npy: wrong; give {argument} instead", argument=argument)
        assert str(error) == f"force=True.npy: wrong; give {argument} instead"
        assert error.for_shell == f"force=True.npy: wrong; give {option} instead"
        assert pickle.loads(pickle.dumps(error)).for_shell == error.for_shell
    assert IsotropeError("x: wrong").for_shell == "x: wrong"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("two\nlines  and\ta tab", "two lines and a tab"),
        ("\x1b[31mred\x1b]0;title\x07", r"\x1b[31mred\x1b]0;title\x07"),
        ("caf\xe9 \u4f60", "caf\xe9 \u4f60"),
        ("a\u202eb\udc80", r"a\u202eb\udc80"),
    ],
)
def test_what_reaches_a_terminal_is_one_printable_line(text: str, shown: str) -> None:
    assert one_line(text) == shown


@given(st.text(), st.integers(20, 80))
def test_any_text_is_short_and_printable(text: str, longest: int) -> None:
    shown = one_line(text, longest)
    assert shown.isprintable()
    assert len(shown) <= longest
    assert one_line("begin" + "x" * 9999 + "end", longest).startswith("begin")
    assert one_line("begin" + "x" * 9999 + "end", longest).endswith("end")


def test_why_something_failed() -> None:
    assert reason(OSError(28, "No space left on device", "x")) == "No space left on device"
    assert reason(ValueError("bad\nvalue")) == "bad value"
    assert reason(MemoryError()) == "MemoryError"
