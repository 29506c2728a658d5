"""Which encoder was made from which."""

from __future__ import annotations

import copy

import pytest
import torch

import isotrope
from isotrope.evaluation.label_free.comparing import compare_encoders
from isotrope.evaluation.label_free.lineage import lineage
from isotrope.evaluation.label_free.related_texts import halves
from isotrope.text import bundled_sentences
from isotrope.training.run import train

TEXTS = bundled_sentences()[::12]


@pytest.fixture(scope="module")
def small() -> isotrope.Encoder:
    return isotrope.load("small")


def test_what_comes_behind_the_transformer_is_a_fit(
    small: isotrope.Encoder, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("smooth")
    train(TEXTS, "smooth", small, folder / "run")
    fitted = isotrope.load(folder / "run" / "encoder")
    assert len(fitted.after_pooling) > len(small.after_pooling)
    assert lineage(fitted, small) == lineage(small, fitted) == lineage(small, small) == "fitted"
    assert lineage(small.with_pooling("cls"), small) == "fitted"


@pytest.mark.parametrize("layers", [None, 1])
def test_training_moves_weights(layers: int | None, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder, bundled = tmp_path_factory.mktemp("trained"), isotrope.load("bundled")
    settings = {"training.batch_size": 4, "training.layers": layers} if layers else {"training.batch_size": 4}
    run = train(TEXTS, "simcse", bundled, folder / "run", steps=2, set=settings)
    assert lineage(run.encoder, bundled) == lineage(isotrope.load(folder / "run"), bundled) == "trained"


def test_other_models_are_no_relatives(small: isotrope.Encoder) -> None:
    bundled = isotrope.load("bundled")
    assert lineage(small, bundled) is None
    other = copy.deepcopy(bundled)
    with torch.no_grad():
        for parameter in other.parameters():
            parameter.normal_(std=0.02)
    assert lineage(other, bundled) is None
    found = compare_encoders(bundled, other, TEXTS, [halves(TEXTS)])
    assert (found.together, found.trained_further) == (None, False)


def test_one_that_shows_no_transformer_may_be_anything(small: isotrope.Encoder) -> None:
    class Service:
        encode = small.encode

    assert lineage(Service(), small) == lineage(small, Service()) == "unknown"
    assert compare_encoders(small, Service(), TEXTS, [halves(TEXTS)]).trained_further
