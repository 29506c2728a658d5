"""A run with Matryoshka: the saved encoder remembers its lengths, and cutting keeps the first numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import isotrope
from isotrope import recipes
from isotrope.io.errors import IsotropeError
from isotrope.text import bundled_sentences


def test_it_remembers_and_is_cut(tmp_path: Path) -> None:
    text = bundled_sentences()[:32]
    settings = {"training.batch_size": 4, "matryoshka.dims": [64, 16], "pooling.training": "cls"}
    run = isotrope.train(text, "simcse", "bundled", output=tmp_path / "run", steps=1, set=settings)
    loaded = isotrope.load(tmp_path / "run" / "encoder", device="cpu")
    assert loaded.matryoshka_dimensions == run.encoder.matryoshka_dimensions == (256, 64, 16)
    made = isotrope.export(tmp_path / "run", "torch", tmp_path / "short", dim=64)  # no text is needed
    assert "trained with Matryoshka" in made.how[0]
    short = isotrope.load(made.path).encode(text)
    assert np.abs(short - loaded.encode(text)[:, :64]).max() < 1e-6
    with pytest.raises(IsotropeError, match=r"matryoshka.dims \[512\]: this encoder's vectors have 256 numbers"):
        isotrope.train(text, "simcse", "bundled", output=tmp_path / "x", set=settings | {"matryoshka.dims": [512]})


@pytest.mark.parametrize(
    ("recipe", "settings", "message"),
    [
        ("bsl", {}, "heads would stand between"),
        ("simcse", {}, "set pooling.training and pooling.evaluation alike"),
        ("tsdae", {}, "matryoshka has no effect: objective.kind 'tsdae' compares no two views"),
        ("simcse", {"matryoshka.dims": [16, 64], "pooling.training": "cls"}, "the longest first"),
        ("simcse", {"matryoshka.weights": [1, 2], "pooling.training": "cls"}, "must be as many as matryoshka.dims, 1"),
        ("smooth", {}, "matryoshka has no effect"),
        ("parallel", {"heads.projection": "default", "pooling.training": "cls"}, "matryoshka"),
    ],
)
def test_what_means_nothing_is_refused(recipe: str, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(IsotropeError, match=message):
        recipes.load(recipe, {"matryoshka.dims": [64], **settings})
