"""Killed at any moment and resumed, a run ends with the weights of one that was left alone, bit for bit."""

from __future__ import annotations

import json
import random
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor

import isotrope
from isotrope.text import bundled_sentences
from isotrope.training.checkpoints import last_checkpoint
from isotrope.training.run import train

pytestmark = pytest.mark.xdist_group("killed")

TEXTS = bundled_sentences()[:120]
PAIRS = list(zip(TEXTS, TEXTS[60:] + TEXTS[:60], strict=True))
STEPS = 9
OFTEN = {"training.batch_size": 8, "training.eval_steps": 1, "training.save_steps": 3}  # a line of the log each step
OFTEN["training.keep_checkpoints"] = True  # to be looked at
NARROW = OFTEN | {"heads.projection.width": 16}
CASES: dict[str, dict[str, Any]] = {
    "sg-opt": {"sentences": TEXTS, "set": NARROW},
    "consert:official": {"sentences": TEXTS, "set": OFTEN},  # views that are drawn, an optimiser of our own
    "bsl": {
        "sentences": [{"view1": one, "view2": other} for one, other in PAIRS],
        "set": OFTEN | {"heads.predictor.ratio": 1, "guide.momentum": 0.9},
    },
    "rankcse:start": {"sentences": TEXTS, "set": OFTEN},
    "neighbours": {"sentences": TEXTS, "set": OFTEN | {"queue.size": 20, "views.second.draw.recompute": 2}},
    "esimcse": {"sentences": TEXTS, "set": OFTEN | {"queue.size": 20}},  # texts that are drawn
    "tsdae": {"sentences": TEXTS, "set": OFTEN},  # a decoder
    "parallel": {
        "sentences": [{"source": one, "target": other} for one, other in PAIRS],
        "set": OFTEN | {"queue.size": 20},  # it wraps around within three steps
    },
}


def behind(step: int, run: Path) -> Callable[[], bool]:
    """A moment at random after the step is in the log; another one if the run was done by then."""

    def when() -> bool:
        log = run / "log.jsonl"
        seen = log.is_file() and f'{{"step": {step}, ' in log.read_text()
        if seen:
            moment = random.uniform(0, 0.03)
            print(f"killed {moment:.3f} s behind step {step}")  # shown where the test fails
            time.sleep(moment)
        return seen

    return when


def interrupted(killed: Callable[..., bool], when: Callable[[], bool], output: Path, **arguments: Any) -> None:
    """A run that was killed; begun again where it was done before that."""
    while not killed(when, train, output=output, **arguments) or (output / "encoder").exists():
        shutil.rmtree(output)


def state(run: Path, step: int = STEPS) -> dict[str, Tensor]:
    """All that the learner has and remembers at a checkpoint, and the saved encoder."""
    saved = load_file(run / "encoder" / "model.safetensors")
    return load_file(run / f"checkpoint-{step}" / "model.safetensors") | {f"saved {k}": v for k, v in saved.items()}


def assert_same(found: dict[str, Tensor], wanted: dict[str, Tensor]) -> None:
    assert found.keys() == wanted.keys()
    assert [key for key in wanted if not torch.equal(found[key], wanted[key])] == []


def figures(run: Path) -> list[dict[str, float]]:
    """The log, but for the share of padding, which each process counts anew."""
    lines = [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]
    return [{name: value for name, value in line.items() if name != "padding"} for line in lines]


@pytest.mark.parametrize("recipe", CASES)
def test_a_killed_run_ends_like_one_that_was_left_alone(
    recipe: str, killed: Callable[..., bool], tiny: str, tmp_path: Path
) -> None:
    whole, resumed = tmp_path / "whole", tmp_path / "resumed"
    arguments = CASES[recipe] | {"recipe": recipe, "model": tiny, "steps": STEPS}
    arguments |= {"teacher": tiny} if recipe == "parallel" else {}
    train(output=whole, **arguments)
    interrupted(killed, behind(random.randrange(4, STEPS - 1), resumed), resumed, **arguments)
    assert last_checkpoint(resumed) is not None
    train(output=resumed, resume=True, **arguments)
    found = state(resumed)
    assert_same(found, state(whole))
    assert figures(resumed) == figures(whole)
    assert [line["step"] for line in figures(resumed)] == [0, *(step for k in range(STEPS) for step in (k + 1, k + 1))]
    if recipe == "sg-opt":
        assert isotrope.load(tiny).backbone.config.hidden_dropout_prob > 0
    if recipe == "bsl":
        target, student = (
            found[f"{who}.backbone.model.encoder.layer.0.output.dense.weight"] for who in ("guide.target", "student")
        )
        assert not torch.equal(target, student)
        assert found["tower.predictor.1.num_batches_tracked"] == 2 * STEPS  # eq. 2 has two directions
    if recipe == "parallel":
        assert found["queue.seen"] == 8 * STEPS
        assert found["objective_state.log"] != 0


def test_killed_while_a_checkpoint_is_written(killed: Callable[..., bool], small: str, tmp_path: Path) -> None:
    whole, resumed = tmp_path / "whole", tmp_path / "resumed"
    arguments = CASES["sg-opt"] | {
        "recipe": "sg-opt",
        "model": small,
        "steps": 7,
    }  # with a last checkpoint that is not on the grid
    train(output=whole, **arguments)
    interrupted(killed, lambda: any(resumed.glob(".checkpoint-6.*.partial/*")), resumed, **arguments)
    assert not (resumed / "checkpoint-6").exists()
    kept = last_checkpoint(resumed)
    assert kept is not None
    assert kept.name == "checkpoint-3"
    train(output=resumed, resume=True, **arguments)
    assert_same(state(resumed, 7), state(whole, 7))
    assert figures(resumed) == figures(whole)


def test_best_checkpoint_and_patience_survive_a_kill(killed: Callable[..., bool], small: str, tmp_path: Path) -> None:
    whole, resumed = tmp_path / "whole", tmp_path / "resumed"
    settings = NARROW | {"training.eval_steps": 2, "training.patience": 3, "training.learning_rate": 1e-3}
    arguments: dict[str, Any] = {
        "sentences": TEXTS[:40],
        "recipe": "sg-opt",
        "model": small,
        "dev": "bundled",
        "set": settings,
        "steps": 20,
    }
    train(output=whole, **arguments)
    scores = {
        line["step"]: line["eval_spearman"] for line in figures(whole) if line["step"] and "eval_spearman" in line
    }
    best, last = max(scores, key=scores.__getitem__), max(scores)
    assert last == best + 3 * 2 < 20  # patience was lost; and what remains is the best
    kept = {f"checkpoint-{k}" for k in (best, last - 2, last)}
    assert {path.name for path in whole.glob("checkpoint-*")} == kept
    assert_same(of_student(state(whole, best)), of_student(state(whole, best), "saved "))

    interrupted(killed, behind(last - 2, resumed), resumed, **arguments)  # patience is half lost
    train(output=resumed, resume=True, **arguments)
    for step in (best, last):
        assert_same(state(resumed, step), state(whole, step))
    assert figures(resumed) == figures(whole)

    shutil.rmtree(resumed / "encoder")  # as if killed between the last checkpoint and the result
    train(output=resumed, resume=True, **arguments)
    assert_same(state(resumed, best), state(whole, best))
    assert figures(resumed) == figures(whole)


def of_student(found: dict[str, Tensor], prefix: str = "student.backbone.model.") -> dict[str, Tensor]:
    return {key.removeprefix(prefix): value for key, value in found.items() if key.startswith(prefix)}


def test_killed_in_the_second_stage(killed: Callable[..., bool], tiny: str, tmp_path: Path) -> None:
    labelled, text = tmp_path / "labelled.jsonl", tmp_path / "text.txt"
    rows = [{"sentence1": a, "sentence2": b, "label": k % 3} for k, (a, b) in enumerate(PAIRS[:40])]
    labelled.write_text("\n".join(map(json.dumps, rows)))
    text.write_text("\n".join(TEXTS))
    whole, resumed = tmp_path / "whole", tmp_path / "resumed"
    settings = OFTEN | {"stages.0.training.dropout": 0.0, "stages.1.training.dropout": "default"}
    arguments: dict[str, Any] = {
        "sentences": [labelled, text],
        "recipe": "consert-sup-unsup",
        "model": tiny,
        "steps": 6,
        "set": settings,
    }
    train(output=whole, **arguments)
    interrupted(killed, behind(random.randrange(1, 5), resumed / "stage-2"), resumed, **arguments)
    train(output=resumed, resume=True, **arguments)
    for stage in ("stage-1", "stage-2"):
        assert_same(state(resumed / stage, 6), state(whole / stage, 6))
        assert figures(resumed / stage) == figures(whole / stage)
    final = [load_file(run / "encoder" / "model.safetensors") for run in (whole, resumed)]
    assert_same(*final)
    assert not torch.equal(
        *(
            next(iter(load_file(whole / where / "model.safetensors").values()))
            for where in ("encoder", "stage-1/encoder")
        )
    )


@pytest.mark.parametrize("torn", ['{"step": 3, "lo', "", '{"step": 9, "loss": 1.0}\n{"st'])
def test_what_a_kill_left_of_the_log_is_cut_off(torn: str, tiny: str, tmp_path: Path) -> None:
    run = tmp_path / "run"
    arguments = CASES["sg-opt"] | {"recipe": "sg-opt", "model": tiny, "steps": 2}
    train(output=run, **arguments)
    wanted = figures(run)
    shutil.rmtree(run / "encoder")
    with (run / "log.jsonl").open("a") as log:
        log.write(torn)
    train(output=run, resume=True, **arguments)
    assert figures(run) == wanted
