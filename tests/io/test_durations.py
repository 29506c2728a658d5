from __future__ import annotations

import pytest

from isotrope.io.durations import rough_duration, seconds_of, shown_duration
from isotrope.io.errors import IsotropeError


@pytest.mark.parametrize(
    ("given", "seconds"),
    [("90", 90), ("90s", 90), ("20m", 1200), ("1h30m", 5400), ("1.5h", 5400), (" 2M ", 120), (0.5, 0.5), (7, 7)],
)
def test_durations_are_read_as_people_write_them(given: str | float, seconds: float) -> None:
    assert seconds_of(given) == seconds


@pytest.mark.parametrize("given", ["", "soon", "20 minutes", "0", "-5", "m", float("inf"), float("nan")])
def test_what_is_no_duration_is_refused(given: str | float) -> None:
    with pytest.raises(IsotropeError, match="is not a duration; write 90s, 20m or 1h30m"):
        seconds_of(given)


def test_durations_are_shown_in_the_unit_that_suits() -> None:
    assert [shown_duration(one) for one in (0.512, 45, 59.7, 60, 90, 599.6, 1200, 3600, 5400)] == [
        *("0.512 s", "45 s", "1 min", "1 min", "1 min 30 s", "10 min", "20 min", "1 h", "1 h 30 min"),
    ]


def test_estimates_are_whole_seconds() -> None:
    assert [rough_duration(one) for one in (0.0, 0.2, 7.48, 59.7, 90.4)] == ["0 s", "1 s", "7 s", "1 min", "1 min 30 s"]
