from __future__ import annotations

import os
import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import pytest

from .verbs import VERBS, prepare

LONG = int(os.environ.get("ISOTROPE_FAULTS", 0))  # faults of each kind for each verb; 0: a handful in all
Fresh = Callable[[str], Path]


@pytest.fixture(scope="session")
def model(small: str) -> Path:
    """A narrow encoder of one layer."""
    return Path(small)


@dataclass(frozen=True)
class Whole:
    """What a verb makes where nothing goes wrong: its bytes, the folder, and how long that takes."""

    result: dict[str, str]
    folder: Path
    seconds: float
    touches: int


Wanted = Callable[[str], Whole]


@pytest.fixture(scope="session")
def wanted(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Wanted:
    """Runs a verb once."""

    @lru_cache
    def of(name: str) -> Whole:
        verb, folder = VERBS[name], tmp_path_factory.mktemp("whole") / "f"
        prepare(folder, model, of("train").folder / "work" / "run" if verb.reads_run else None)
        ended = verb.command(folder).run()
        assert ended.code == 0, ended.err
        assert verb.results(folder)
        return Whole(verb.results(folder), folder, ended.seconds, ended.touches)

    return of


@pytest.fixture
def fresh(model: Path, wanted: Wanted, tmp_path: Path) -> Fresh:
    """Makes folders with all that a verb reads: `work/`, and room for a cache beside it."""
    count = iter(range(10**9))

    def make(name: str) -> Path:
        folder = tmp_path / str(next(count))
        prepare(folder, model, wanted("train").folder / "work" / "run" if VERBS[name].reads_run else None)
        return folder

    return make


@pytest.fixture
def chance(request: pytest.FixtureRequest) -> random.Random:
    """The same draws for the same test; ISOTROPE_SEED makes others."""
    return random.Random(f"{os.environ.get('ISOTROPE_SEED', 1)} {request.node.name}")
