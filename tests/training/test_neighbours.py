"""Runs whose second view is a neighbour."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import isotrope
from isotrope import recipes
from isotrope.text import bundled_sentences
from isotrope.text.corpus import build_corpus
from isotrope.training.assemble import trained_student
from isotrope.training.frozen import FrozenEncoders
from isotrope.training.reading import prepare_draws
from isotrope.training.run import train

TEXTS = bundled_sentences()[:100]
SMALL = {"training.batch_size": 16, "training.eval_steps": 2, "training.save_steps": 2, "training.dropout": 0.1}


def figures(run: Any) -> list[dict[str, float]]:
    return [{name: value for name, value in line.items() if name != "padding"} for line in run.log]


@pytest.mark.parametrize("recompute", [0, 3])
def test_a_resumed_run_sees_the_same_neighbours(recompute: int, small: str, tmp_path: Path) -> None:
    settings = SMALL | {"views.second.draw.recompute": recompute, "training.learning_rate": 1e-3}
    settings["training.keep_checkpoints"] = True
    whole = train(TEXTS, "neighbours", small, tmp_path / "run", steps=6, set=settings)
    tables = {path.name for path in (tmp_path / "run" / "draw-second-text").iterdir()}
    assert tables == {"neighbours-0.npy"} | ({"neighbours-3.npy"} if recompute else set())
    before = {name: np.load(tmp_path / "run" / "draw-second-text" / name) for name in tables}
    shutil.rmtree(tmp_path / "run" / "checkpoint-6")
    (tmp_path / "run" / "encoder").rename(tmp_path / "encoder")
    again = train(TEXTS, "neighbours", small, tmp_path / "run", steps=6, set=settings, resume=True)
    assert figures(whole) == figures(again)
    old, new = (isotrope.load(folder).state_dict() for folder in (tmp_path / "encoder", tmp_path / "run" / "encoder"))
    assert all(torch.equal(value, new[key]) for key, value in old.items())
    if recompute:
        assert not np.array_equal(before["neighbours-0.npy"], before["neighbours-3.npy"])


def test_looking_again_reads_without_dropout_and_leaves_the_student_learning(small: str, tmp_path: Path) -> None:
    settings = SMALL | {"views.second.draw.recompute": 1, "views.second.draw.mutual": False, "negatives": "default"}
    stage = recipes.load("neighbours", settings).stages[0]
    corpus = build_corpus([TEXTS], stage.columns, tmp_path / "corpus")
    start = isotrope.load(small)
    student = trained_student(start, stage)
    draws = prepare_draws(stage, corpus, (), student, FrozenEncoders(start), tmp_path)
    student.train()
    draws["second", "text"].at(1)
    assert all(module.training for module in student.backbone.modules())
    tables = [np.load(tmp_path / "draw-second-text" / f"neighbours-{step}.npy") for step in (0, 1)]
    assert np.array_equal(*tables)  # nothing was learnt yet, so they are those of the start
