from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest

import isotrope
from isotrope.text import bundled_sentences
from isotrope.training.pretrain import Pretraining, pretrain

from .verbs import VERBS, prepare

LONG = int(os.environ.get("ISOTROPE_FAULTS", 0))  # faults of each kind for each verb; 0: a handful in all
Fresh = Callable[[], Path]


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT of 28 thousand weights: whatever is done to it takes a moment."""
    folder = tmp_path_factory.mktemp("faults")
    (folder / "text.txt").write_text("\n".join(bundled_sentences()))
    sizes = {"layers": 1, "dim": 32, "heads": 2, "positions": 64, "vocabulary": 400, "steps": 1, "batch_tokens": 256}
    pretrain(Pretraining(files={str(folder / "text.txt"): 1.0}, **sizes), folder / "run")
    return isotrope.load(folder / "run" / "encoder").save(folder / "model")


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
