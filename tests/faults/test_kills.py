"""Ended by a signal at any moment, a command that is given again makes the bytes of one that was left alone."""

from __future__ import annotations

import random
import shutil
import signal
from collections import Counter
from itertools import cycle
from pathlib import Path

import pytest

from .conftest import LONG, Fresh, Wanted
from .processes import Ended
from .verbs import VERBS, Verb, leftovers

pytestmark = pytest.mark.xdist_group("faults")

GENTLE = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
HANDFUL = ("train", "encode", "baseline whitening")


@pytest.mark.parametrize("name", VERBS if LONG else HANDFUL)
def test_ended_and_given_again(name: str, fresh: Fresh, wanted: Wanted, chance: random.Random) -> None:
    """Half of them at any moment, half as a file is opened to be written to, named or removed: each such touch once
    before any comes twice.
    """
    whole, counts = wanted(name), Counter[str]()
    touches = cycle(chance.sample(range(1, whole.touches + 1), whole.touches))
    lasting = [whole.seconds]  # of the last ones that came to their end
    for k in range(LONG or 1):
        number = chance.choice((signal.SIGKILL, *GENTLE)) if LONG else GENTLE[len(name) % 3]
        folder = fresh(name)
        command = VERBS[name].command(folder)
        if k % 2:
            command.touch = next(touches), number
            ended = command.run()
        else:
            moment = chance.uniform(0, sum(lasting) / len(lasting))
            print(f"{name}: {signal.Signals(number).name} after {moment:.3f} s")  # shown where the test fails
            ended = command.run(moment, number)
        print(f"{name}: fault {k}, {signal.Signals(number).name}, touch {command.touch}, exit code {ended.code}")
        counts["ended" if ended.code else "was done before"] += 1
        seconds = check(ended, number, VERBS[name], folder, whole.result)
        lasting = [*lasting, *filter(None, [seconds])][-9:]
        shutil.rmtree(folder)
    if LONG:
        print(
            f"FIGURES kills {name}: {dict(counts)}, {min(LONG // 2, whole.touches)} of {whole.touches} touches",
            flush=True,
        )


@pytest.mark.skipif(not LONG, reason="only in the long run: make faults")
@pytest.mark.parametrize("name", VERBS)
def test_ended_while_it_starts(name: str, fresh: Fresh, wanted: Wanted, chance: random.Random) -> None:
    """As a shell starts it, whose first seconds are imports."""
    counts: Counter[str] = Counter()
    for _ in range(max(1, LONG // 50)):
        number, folder = chance.choice(GENTLE), fresh(name)
        ended = VERBS[name].command(folder).run(chance.uniform(0, 6), number, forked=False)
        counts["ended" if ended.code else "was done before"] += 1
        check(ended, number, VERBS[name], folder, wanted(name).result)
        shutil.rmtree(folder)
    print(f"FIGURES kills while starting {name}: {dict(counts)}", flush=True)


def check(ended: Ended, number: int, verb: Verb, folder: Path, result: dict[str, str]) -> float | None:
    """Given again, it makes the same. The seconds of that, if it had to be done from the beginning."""
    check_end(ended.code, ended.err, number, folder)
    again, found = verb.command(folder), None
    if verb.results(folder) != result or verb.run:
        found = again.run()
        assert found.code == 0, found.err
    assert verb.results(folder) == result
    assert leftovers(folder) == []
    return found.seconds if found and "--resume" not in again.arguments else None


def check_end(code: int, err: str, number: int, folder: Path) -> None:
    """A signal that can be heard is heard without a traceback, and nothing half-written stays."""
    if number == signal.SIGKILL:
        assert code in (0, -signal.SIGKILL)
        return
    assert code in (0, 128 + number, -number), err  # the last: before it had begun to listen
    assert "Traceback" not in err
    if code == 128 + number:
        assert leftovers(folder) == []
