"""Every field of every fit has an effect, and a recipe may end with any of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import isotrope
from isotrope import recipes
from isotrope.fits import FITS
from isotrope.io.errors import IsotropeError
from isotrope.text import bundled_sentences

TEXTS = bundled_sentences()[:400]
PLAIN: dict[str, dict[str, Any]] = {"smoothing": {"threshold": 0.0}, "whitening": {}}  # so that all have neighbours
OTHER: dict[str, dict[str, Any]] = {
    "smoothing": {
        "strength": 2.0,
        "neighbours": 2,
        "threshold": 0.5,
        "whitening": 0.7,
        "centring": 0.5,
        "trust": 0,
        "ridge": 5.0,
    },
    "whitening": {"dim": 8},
}
CASES = [(kind, field) for kind, fields in OTHER.items() for field in fields]


def test_no_field_is_forgotten() -> None:
    fields = {kind: set(spec.model_fields) - {"kind", "texts"} for kind, spec in FITS.specs.items()}
    assert fields == {kind: set(others) for kind, others in OTHER.items()}


@pytest.mark.parametrize(("kind", "field"), CASES)
def test_every_field_has_an_effect(kind: str, field: str) -> None:
    encoder = isotrope.load("bundled")
    plain = FITS.make(kind, **PLAIN[kind]).fit(encoder, TEXTS).encode(TEXTS[:5])
    other = FITS.make(kind, **PLAIN[kind] | {field: OTHER[kind][field]}).fit(encoder, TEXTS).encode(TEXTS[:5])
    assert plain.shape != other.shape or np.abs(plain - other).max() > 1e-5


@pytest.mark.parametrize("kind", OTHER)
def test_a_recipe_may_end_with_it(kind: str, tmp_path: Path) -> None:
    chosen = {"fit": {"kind": kind, "texts": 300}, "training.batch_size": 4}
    trained = isotrope.train(TEXTS, "simcse", "bundled", tmp_path / "run", steps=1, set=chosen)
    saved = isotrope.load(tmp_path / "run" / "encoder")
    np.testing.assert_allclose(saved.encode(TEXTS[:5]), trained.encode(TEXTS[:5]), atol=1e-4)
    fewer = isotrope.train(
        TEXTS, "simcse", "bundled", tmp_path / "fewer", steps=1, set=chosen | {"fit": {"kind": kind, "texts": 299}}
    )
    assert np.abs(fewer.encode(TEXTS[:5]) - trained.encode(TEXTS[:5])).max() > 1e-6


def test_numbers_of_a_loop_that_there_is_not_are_refused() -> None:
    with pytest.raises(IsotropeError, match=r"training\.steps has no effect: nothing is learnt by gradient"):
        recipes.load("smooth", {"training.steps": 5})
    with pytest.raises(IsotropeError, match="nothing to learn"):
        recipes.load({"objective": {"kind": "none"}})
