from __future__ import annotations

import re

import pytest

from isotrope.views.text import progress
from isotrope.views.text.progress import watching


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def test_without_a_terminal_it_is_a_line_now_and_then(capsys: pytest.CaptureFixture[str], clock: list[float]) -> None:
    with watching("Views", 1000) as advance:
        for seconds, rows in ((0.5, 300), (10, 100), (15, 100), (25, 100)):
            clock[0] = seconds
            advance(rows)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.splitlines() == [
        "Views: 400 of 1,000 rows, 40 rows/s, 15 s left",
        "Views: 600 of 1,000 rows, 13 rows/s, 30 s left",
    ]


def test_of_unknown_length_there_is_no_time_left(capsys: pytest.CaptureFixture[str], clock: list[float]) -> None:
    with watching("Views", None) as advance:
        clock[0] = 20
        advance(100)
    assert capsys.readouterr().err == "Views: 100 rows, 5 rows/s\n"


def test_on_a_terminal_it_is_a_bar_that_goes_away(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(progress, "LINE_SECONDS", 0)
    with watching("Views", 10) as advance:
        advance(5)
        advance(5)
    shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", capsys.readouterr().err)
    assert "10/10" in shown
    assert "rows, " not in shown
