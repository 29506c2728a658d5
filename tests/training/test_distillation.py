"""Runs that learn from the vectors of frozen teachers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import isotrope
from isotrope import recipes
from isotrope.encoders.frozen import FrozenModel
from isotrope.io.errors import IsotropeError
from isotrope.text import bundled_sentences
from isotrope.training.frozen import FrozenEncoders
from isotrope.training.run import train

TEXTS = bundled_sentences()[:120]
SMALL = {"training.batch_size": 16, "training.eval_steps": 10, "training.save_steps": 10}


@pytest.mark.parametrize("distance", ["cosine", "mse"])
def test_a_student_comes_to_give_its_teachers_vectors(distance: str, shallow: str, tmp_path: Path) -> None:
    settings = SMALL | {"distillation.distance": distance, "training.learning_rate": 1e-3, "training.dropout": 0.0}
    run: Any = train(TEXTS, "distil", shallow, tmp_path / "run", steps=30, set=settings, teacher="bundled")
    assert run.recipe.stages[0].distillation.teachers == ("bundled",)
    wanted = isotrope.load("bundled").encode(TEXTS, normalize_embeddings=True)
    before, after = (
        float((encoder.encode(TEXTS, normalize_embeddings=True) * wanted).sum(axis=1).mean())
        for encoder in (isotrope.load(shallow), run.encoder)
    )
    assert after > before + 0.3 * (1 - before)
    losses = [line["loss"] for line in run.log if "loss" in line]
    assert losses[-1] < losses[0]


def test_the_log_shows_what_the_teacher_adds(small: str, tmp_path: Path) -> None:
    run: Any = train(TEXTS, "rankcse:start", small, tmp_path / "run", steps=10, set=SMALL)
    line = next(line for line in run.log if "loss" in line)
    parts = [line[name] for name in ("contrast", "distillation", "consistency")]
    assert all(part > 0 for part in parts)
    assert line["loss"] == pytest.approx(sum(parts), rel=1e-5)


def test_vectors_of_another_width_are_refused_before_any_text_is_read(minilm: isotrope.Encoder, tmp_path: Path) -> None:
    with pytest.raises(IsotropeError, match="those of the teacher 'minilm' have 384 numbers, the student's 256"):
        train(TEXTS, "distil", "bundled", tmp_path / "run", steps=2, set=SMALL)
    assert not (tmp_path / "run").exists()
    train(TEXTS, "distil:similarities", "bundled", tmp_path / "run", steps=2, set=SMALL)


def test_a_bare_teacher_is_pooled_as_the_recipe_says(small: str) -> None:
    settings = {"distillation.teachers": [small, "start"], "distillation.teacher_pooling": "cls"}
    stage = recipes.load("distil", settings).stages[0]
    one, start = stage.distillation.models
    assert (one, start) == (FrozenModel(small, "cls"), FrozenModel("start"))
    encoders = FrozenEncoders(isotrope.load("bundled", pooling="max"))
    assert str(encoders[one].pooling) == "cls"
    assert str(encoders[start].pooling) == "max"
    assert np.allclose(encoders[one].encode("A dog."), isotrope.load(small, pooling="cls").encode("A dog."), atol=1e-6)
