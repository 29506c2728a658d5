"""Vectors of frozen encoders: made once, looked up by row, and what guided negatives do with them in a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import isotrope
from isotrope import recipes
from isotrope.encoders.frozen import FrozenModel
from isotrope.io.errors import IsotropeError
from isotrope.text import bundled_sentences
from isotrope.text.corpus import build_corpus
from isotrope.training.frozen import Frozen, FrozenEncoders, FrozenVectors
from isotrope.training.run import train

TEXTS = bundled_sentences()[:60]
ROWS = [{"text": one, "other": other} for one, other in zip(TEXTS, reversed(TEXTS), strict=True)]
GUIDED = {"negatives.guided_by": "start", "negatives.threshold": 0.6}
SMALL = {"training.batch_size": 8, "training.eval_steps": 2, "training.save_steps": 2}
NARROW = {"sg-opt": {"heads.projection.width": 16}, "sg-opt1": {"heads.projection.width": 16}}  # of the paper's 4,096


def test_vectors_are_those_of_the_encoder_as_saved(small: str, tmp_path: Path) -> None:
    settings = GUIDED | {"views.second.column": "other", "views.negative": "text", "negatives.guided_by": small}
    stage = recipes.load("simcse", settings | {"training.max_length": None}).stages[0]
    corpus = build_corpus([ROWS], stage.columns, tmp_path / "corpus")
    start = isotrope.load("bundled", pooling="cls")
    found = FrozenVectors(stage, corpus, FrozenEncoders(start), tmp_path).of(
        lambda side, column: {"first": [3, 1], "second": [5, 6], "negative": [0, 59]}[side]
    )
    wanted = isotrope.load(small).encode(TEXTS)
    model = FrozenModel(small)
    assert found.keys() == {(model, "first"), (model, "second"), (model, "negative")}
    assert np.allclose(found[model, "first"], wanted[[3, 1]], atol=1e-5)
    assert np.allclose(found[model, "second"], wanted[[54, 53]], atol=1e-5)
    assert np.allclose(found[model, "negative"], wanted[[0, 59]], atol=1e-5)
    folders = sorted(path.name for path in (tmp_path / "frozen").iterdir())
    assert len(folders) == 2  # a column that serves twice is encoded once


def test_the_start_keeps_its_own_pooling(tmp_path: Path) -> None:
    stage = recipes.load("simcse", GUIDED | {"pooling.training": "mean"}).stages[0]
    corpus = build_corpus([ROWS], ("text",), tmp_path / "corpus")
    start = isotrope.load("bundled", pooling="cls")
    found = FrozenVectors(stage, corpus, FrozenEncoders(start), tmp_path).of(lambda side, column: list(range(60)))
    assert np.allclose(found[FrozenModel("start"), "first"], start.encode(TEXTS), atol=1e-5)
    assert (tmp_path / "frozen" / "start-text" / "vectors.npy").is_file()


def test_they_go_where_the_batch_goes() -> None:
    moved = Frozen({(FrozenModel("start"), "first"): torch.ones(2, 3)}).to("meta")
    assert isinstance(moved, Frozen)
    assert moved[FrozenModel("start"), "first"].device.type == "meta"


@pytest.mark.parametrize("recipe", ["simcse", "consert", "sg-opt", "sg-opt1"])
def test_guided_negatives_in_a_run(recipe: str, small: str, tmp_path: Path) -> None:
    """What is left out lowers the loss; where nothing is, the run is that of the recipe alone."""
    losses = {}
    for name, settings in (
        ("plain", {}),
        ("none", GUIDED | {"negatives.threshold": 1.1}),
        ("some", GUIDED | {"negatives.threshold": 0.3}),
    ):
        chosen = SMALL | NARROW.get(recipe, {}) | {"queue.size": 12} | settings
        run: Any = train(TEXTS, recipe, small, tmp_path / name, steps=3, set=chosen)
        losses[name] = [line["loss"] for line in run.log if "loss" in line]
    assert losses["none"] == losses["plain"]
    assert losses["some"][0] < losses["plain"][0]


def test_a_resumed_run_looks_up_what_is_there(small: str, tmp_path: Path) -> None:
    settings = SMALL | GUIDED | {"queue.size": 12, "training.eval_steps": 1, "training.save_steps": 2}
    settings["training.keep_checkpoints"] = True
    whole = train(TEXTS, "simcse", small, tmp_path / "run", steps=4, set=settings)
    before = (tmp_path / "run" / "frozen" / "start-text" / "vectors.npy").stat().st_mtime_ns
    for gone in ("checkpoint-4", "encoder"):
        (tmp_path / "run" / gone).rename(tmp_path / gone)
    again = train(TEXTS, "simcse", small, tmp_path / "run", steps=4, set=settings, resume=True)
    figures = [[{k: v for k, v in line.items() if k != "padding"} for line in run.log] for run in (whole, again)]
    assert figures[0] == figures[1]
    assert (tmp_path / "run" / "frozen" / "start-text" / "vectors.npy").stat().st_mtime_ns == before
    old, new = (isotrope.load(folder) for folder in (tmp_path / "encoder", tmp_path / "run" / "encoder"))
    assert all(torch.equal(value, new.state_dict()[key]) for key, value in old.state_dict().items())
    manifest = json.loads((tmp_path / "run" / "checkpoint-4" / "manifest.json").read_text())
    assert manifest["step"] == 4


@pytest.mark.parametrize("key", ["negatives.guided_by", "views.second.draw.model"])
def test_a_model_that_is_not_there_is_found_before_any_text_is_read(key: str, small: str, tmp_path: Path) -> None:
    with pytest.raises(IsotropeError, match="no-such-model"):
        train(TEXTS, "neighbours", small, tmp_path / "run", steps=2, set=SMALL | {key: "no-such-model"})
    assert not (tmp_path / "run").exists()
