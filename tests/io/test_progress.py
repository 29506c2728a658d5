from __future__ import annotations

import re

import pytest

from isotrope.io import progress as module
from isotrope.io.progress import Display, progress, silence, waiting


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [0.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    return now


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr(module, "LINE_SECONDS", 0)


def shown(capsys: pytest.CaptureFixture[str]) -> str:
    captured = capsys.readouterr()
    assert captured.out == ""
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", captured.err)


def test_without_a_terminal_it_is_a_line_now_and_then(capsys: pytest.CaptureFixture[str], clock: list[float]) -> None:
    with Display("Views", 1000, unit="rows") as advance:
        for seconds, rows in ((0.5, 300), (10, 100), (15, 100), (25, 100)):
            clock[0] = seconds
            advance(rows)
    assert shown(capsys).splitlines() == [
        "Views: 400 of 1,000 rows, 40 rows/s, 15 s left",
        "Views: 600 of 1,000 rows, 13 rows/s, 30 s left",
    ]


def test_of_unknown_length_there_is_no_time_left(capsys: pytest.CaptureFixture[str], clock: list[float]) -> None:
    with Display("Views", unit="rows") as advance:
        clock[0] = 20
        advance(100)
    assert shown(capsys) == "Views: 100 rows, 5 rows/s\n"


def test_a_resumed_run_counts_from_where_it_was_and_shows_its_figures(
    capsys: pytest.CaptureFixture[str], clock: list[float]
) -> None:
    with Display("simcse", 100, unit="steps", done=50, seconds=2) as advance:
        clock[0] = 2
        advance(10, figures="loss 0.5")
        advance.say("step 60: evaluated [sic]")
    assert shown(capsys) == "simcse: 60 of 100 steps, 5 steps/s, 8 s left  loss 0.5\nstep 60: evaluated [sic]\n"


def test_without_a_unit_there_are_no_lines(capsys: pytest.CaptureFixture[str], clock: list[float]) -> None:
    with Display("Encoding", 10) as advance:
        clock[0] = 100
        advance(10)
    assert list(progress(range(3), "Encoding", shown=True)) == [0, 1, 2]
    assert shown(capsys) == ""


@pytest.mark.usefixtures("terminal")
def test_on_a_terminal_it_is_a_bar_that_goes_away(capsys: pytest.CaptureFixture[str]) -> None:
    with Display("Views", 10, unit="rows") as advance:
        advance(5)
        advance(5, "Views [2]", "loss 0.25")
    found = shown(capsys)
    assert "10/10" in found
    assert "Views [2]" in found
    assert "loss 0.25" in found
    assert "rows, " not in found


@pytest.mark.usefixtures("terminal")
def test_items_are_counted_as_they_are_taken(capsys: pytest.CaptureFixture[str]) -> None:
    assert list(progress(range(7), "Encoding", shown=True)) == list(range(7))
    assert "7/7" in shown(capsys)
    assert list(progress(range(7), "Encoding", shown=False)) == list(range(7))
    assert shown(capsys) == ""


def test_inside_silence_nothing_is_shown(capsys: pytest.CaptureFixture[str], terminal: None) -> None:
    with silence(), waiting("Reading"), Display("Encoding", 2, unit="rows") as advance:
        advance(2)
        advance.say("half way")
    assert shown(capsys) == ""
    Display("after").say("seen again")
    assert shown(capsys) == "seen again\n"
