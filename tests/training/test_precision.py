"""`auto` is bfloat16 only where the hardware and the encoder allow it."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import isotrope
from isotrope import recipes
from isotrope.encoders import Encoder
from isotrope.text import bundled_sentences
from isotrope.training import precision
from isotrope.training.precision import AGREEING, agreement, settled_precision, suitable_precision

AUTO = {"training.precision": "auto"}


@pytest.fixture(autouse=True)
def capable(monkeypatch: pytest.MonkeyPatch) -> None:
    """The hardware multiplies in bfloat16, whatever it is."""
    monkeypatch.setattr(precision, "fastest_precision", lambda device: "bfloat16")


@pytest.fixture
def outweighed() -> Encoder:
    """Added to every hidden state is a large number, the same for all texts."""
    encoder = isotrope.load("bundled")
    with torch.no_grad():
        encoder.backbone.model.embeddings.LayerNorm.bias[7] += 2000
    return encoder


@pytest.mark.parametrize("model", ["bundled", "small"])
@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_ordinary_encoders_agree(model: str, pooling: str) -> None:
    encoder = isotrope.load(model, pooling=pooling)
    assert agreement(encoder, "bfloat16") > 0.999 > AGREEING
    assert encoder.precision == "float32"
    assert suitable_precision(encoder) == "bfloat16"


def test_an_encoder_that_would_change_is_kept_exact(
    outweighed: Encoder, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert agreement(outweighed, "float32") == pytest.approx(1)
    assert agreement(outweighed, "bfloat16") < 0.6
    run = isotrope.train(bundled_sentences()[:40], "smooth", model=outweighed, output=tmp_path / "run")
    assert run.recipe.stages[0].training.precision == "float32"
    said = capfd.readouterr().err
    assert "bfloat16 would change the similarities of" in said
    assert "using float32" in said


def test_an_encoder_to_which_all_is_the_same_tells_nothing() -> None:
    encoder = isotrope.load("bundled")
    with torch.no_grad():
        for parameter in encoder.backbone.model.parameters():
            parameter.zero_()
    encoder.backbone.model.encoder.layer[-1].output.LayerNorm.bias.data.fill_(1)
    assert agreement(encoder, "bfloat16") == 0
    assert suitable_precision(encoder) == "float32"


def test_a_resumed_run_computes_as_it_began(outweighed: Encoder, tmp_path: Path) -> None:
    recipe = recipes.load("simcse", AUTO)
    wanted = {"stages.0.training.precision": "bfloat16"}
    assert settled_precision(recipe, "bundled", tmp_path, resume=False) == wanted
    (tmp_path / "run.json").write_text('{"training": {"precision": "bfloat16"}}')
    (tmp_path / "recipe.toml").write_text("")
    assert settled_precision(recipe, outweighed, tmp_path, resume=True) == wanted


def test_what_is_not_automatic_stays(tmp_path: Path) -> None:
    assert settled_precision(recipes.load("simcse"), "no such model", tmp_path, resume=False) == {}
