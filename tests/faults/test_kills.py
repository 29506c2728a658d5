"""Ended by a signal at any moment, a command that is given again makes the bytes of one that was left alone."""

from __future__ import annotations

import random
import signal
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import LONG, Fresh
from .verbs import VERBS, leftovers

pytestmark = pytest.mark.xdist_group("faults")

GENTLE = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
HANDFUL = ("train", "encode", "baseline whitening")


@pytest.mark.parametrize("name", VERBS if LONG else HANDFUL)
def test_ended_and_given_again(
    name: str, fresh: Fresh, wanted: Callable[[str], tuple[dict[str, str], float]], chance: random.Random
) -> None:
    verb, (result, seconds) = VERBS[name], wanted(name)
    counts: Counter[str] = Counter()
    for k in range(LONG or 1):
        folder = fresh()
        number = chance.choice((signal.SIGKILL, *GENTLE)) if LONG else GENTLE[len(name) % 3]
        moment = chance.uniform(0, 1.1 * seconds)
        print(f"{name}: fault {k}, {signal.Signals(number).name} after {moment:.3f} s")  # shown where the test fails
        ended = verb.command(folder).run(moment, number)
        counts["ended" if ended.code else "was done before"] += 1
        check_end(ended.code, ended.err, number, folder)
        again = verb.command(folder)
        if verb.results(folder) != result or verb.run:
            found = again.run()
            assert found.code == 0, found.err
        assert verb.results(folder) == result
        assert leftovers(folder) == []
    if LONG:
        print(f"FIGURES kills {name}: {dict(counts)}")


def check_end(code: int, err: str, number: int, folder: Path) -> None:
    """A signal that can be heard is heard without a traceback, and nothing half-written stays."""
    if number == signal.SIGKILL:
        assert code in (0, -signal.SIGKILL)
        return
    assert code in (0, 128 + number, -number), err  # the last: before the command had begun to listen
    assert "Traceback" not in err
    if code == 128 + number:
        assert leftovers(folder) == []
