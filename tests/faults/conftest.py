from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from .verbs import VERBS, prepare

LONG = int(os.environ.get("ISOTROPE_FAULTS", 0))  # faults of each kind for each verb; 0: a handful in all
Fresh = Callable[[], Path]


@pytest.fixture(scope="session")
def model(small: str) -> Path:
    """A narrow encoder of one layer."""
    return Path(small)


@pytest.fixture
def fresh(model: Path, tmp_path: Path) -> Fresh:
    """Makes folders with all that the verbs read: `work/`, and room for a cache beside it."""
    count = iter(range(10**9))

    def make() -> Path:
        folder = tmp_path / str(next(count))
        prepare(folder, model)
        return folder

    return make


@pytest.fixture(scope="session")
def wanted(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[dict[str, str], float]]:
    """What a verb makes where nothing goes wrong, and how many seconds that takes."""
    known: dict[str, tuple[dict[str, str], float]] = {}

    def of(name: str) -> tuple[dict[str, str], float]:
        if name not in known:
            folder = tmp_path_factory.mktemp("whole") / "f"
            prepare(folder, model)
            ended = VERBS[name].command(folder).run()
            assert ended.code == 0, ended.err
            assert VERBS[name].results(folder)
            known[name] = VERBS[name].results(folder), ended.seconds
        return known[name]

    return of


@pytest.fixture
def chance(request: pytest.FixtureRequest) -> random.Random:
    """The same draws for the same test; ISOTROPE_SEED makes others."""
    return random.Random(f"{os.environ.get('ISOTROPE_SEED', 1)} {request.node.name}")
