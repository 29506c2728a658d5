"""One recipe under several seeds."""

from __future__ import annotations

from pathlib import Path
from statistics import mean, stdev
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

import isotrope
from isotrope.io.errors import IsotropeError
from isotrope.text import bundled_sentences
from isotrope.training import seeds as module

TEXTS = bundled_sentences()[:48]
SMALL: dict[str, Any] = {"recipe": "simcse", "steps": 2, "dev": "bundled"}  # the first has a learning rate of 0
SMALL |= {"set": {"training.batch_size": 8, "training.learning_rate": 1e-3}}


def weights(folder: Path) -> dict[str, torch.Tensor]:
    return load_file(folder / "encoder" / "model.safetensors")


@pytest.fixture(scope="module")
def several(small: str, tmp_path_factory: pytest.TempPathFactory) -> isotrope.Seeds:
    return isotrope.train_seeds(iter(TEXTS), seeds=2, output=tmp_path_factory.mktemp("runs"), model=small, **SMALL)


def test_each_is_the_run_of_its_seed(several: isotrope.Seeds, small: str, tmp_path: Path) -> None:
    assert [folder.name for folder in several.folders] == ["seed-1", "seed-2"]
    one, other = map(weights, several.folders)
    assert any(not torch.equal(one[name], other[name]) for name in one)
    alone = weights(isotrope.train(TEXTS, model=small, output=tmp_path / "run", seed=2, **SMALL).folder)
    assert all(torch.equal(alone[name], other[name]) for name in other)


def test_the_table_has_every_seed_their_mean_and_deviation(several: isotrope.Seeds) -> None:
    scores = [run.scores["after"] for run in several.runs.values() if run.scores]
    assert several.figures[module.DEV] == scores
    found = several.as_dict()["figures"][module.DEV]
    assert (found["mean"], found["deviation"]) == (mean(scores), stdev(scores))
    assert f"{mean(scores):.2f} ± {stdev(scores):.2f}" in str(several)
    assert list(several.as_dict()["runs"]) == ["1", "2"]


def test_what_is_done_is_not_done_again(several: isotrope.Seeds, small: str) -> None:
    """A third seed beside two that are done: those keep their very files."""
    output = several.folders[0].parent
    before = [(folder / "encoder" / "model.safetensors").stat().st_mtime_ns for folder in several.folders]
    with pytest.raises(IsotropeError, match="seed-1: exists already"):
        isotrope.train_seeds(TEXTS, seeds=3, output=output, model=small, **SMALL)
    more = isotrope.train_seeds(TEXTS, seeds=3, output=output, model=small, resume=True, **SMALL)
    assert [folder.name for folder in more.folders] == ["seed-1", "seed-2", "seed-3"]
    assert [(folder / "encoder" / "model.safetensors").stat().st_mtime_ns for folder in several.folders] == before
    assert more.figures[module.DEV][:2] == several.figures[module.DEV]


def test_a_seed_and_seeds_exclude_each_other(tmp_path: Path) -> None:
    for wrong, message in (({"seeds": 2, "seed": 1}, "used together"), ({"seeds": 0}, "at least one run")):
        with pytest.raises(IsotropeError, match=message):
            isotrope.train_seeds(TEXTS, output=tmp_path / "runs", **wrong)
    assert not (tmp_path / "runs").exists()
