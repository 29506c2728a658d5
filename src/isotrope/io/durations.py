"""How long something may take, as people write it: `90`, `90s`, `20m`, `1h30m`."""

from __future__ import annotations

import math
import re

from isotrope.io.errors import IsotropeError

EXACT = 600  # seconds up to which they are all shown
UNITS = {"h": 3600, "m": 60, "s": 1}
_WRITTEN = re.compile(r"(?:(?P<h>\d+(?:\.\d+)?)h)?(?:(?P<m>\d+(?:\.\d+)?)m)?(?:(?P<s>\d+(?:\.\d+)?)s?)?")


def seconds_of(duration: str | float) -> float:
    """A duration in seconds; a number alone is seconds already.

    >>> seconds_of("20m"), seconds_of("1h30m"), seconds_of(90)
    (1200.0, 5400.0, 90.0)
    """
    found = _WRITTEN.fullmatch(str(duration).strip().lower())
    parts = {unit: float(number) for unit, number in found.groupdict().items() if number} if found else {}
    seconds = sum(number * UNITS[unit] for unit, number in parts.items())
    if not 0 < seconds < math.inf:
        raise IsotropeError(f"'{duration}' is not a duration; write 90s, 20m or 1h30m")
    return seconds


def rough_duration(seconds: float) -> str:
    """An estimate, in whole seconds: `7 s`, and what `shown_duration` says of a minute and more."""
    return shown_duration(max(round(seconds), 1)) if seconds > 0 else "0 s"


def shown_duration(seconds: float) -> str:
    """`45 s`, `1 min 30 s`, `20 min`, `1 h 30 min`."""
    if round(seconds) < 60:
        return f"{seconds:.3g} s"
    if round(seconds) < EXACT:
        minutes, left = divmod(round(seconds), 60)
        return f"{minutes} min" + (f" {left} s" if left else "")
    hours, minutes = divmod(round(seconds / 60), 60)
    return " ".join([*([f"{hours} h"] if hours else []), *([f"{minutes} min"] if minutes or not hours else [])])
