"""The trainer with our learner in it: numbers as the recipe has them, and what a run leaves."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import Trainer, TrainingArguments

from isotrope.io.errors import IsotropeError

from .loops import Make, checkpoints, falling, lines, same, saved_student, spoilt, student

# -- the optimiser and its schedule ------------------------------------------------------------------------------------


@pytest.mark.parametrize("recipe", ["sg-opt", "bt", "bsl", "parallel"])
def test_matrices_are_decayed_and_each_learning_parameter_comes_once(make: Make, recipe: str) -> None:
    loop = make(recipe, weight_decay=0.02)
    decayed, *exempt = loop.optimiser.param_groups  # a learnt temperature is a group of its own
    assert [decayed["weight_decay"], *(group["weight_decay"] for group in exempt)] == [0.02, *[0.0] * len(exempt)]
    assert len(exempt) == (2 if recipe == "parallel" else 1)
    names = {id(parameter): name for name, parameter in loop.model.named_parameters()}
    with_decay = [names[id(p)] for p in decayed["params"]]
    without = [names[id(p)] for group in exempt for p in group["params"]]
    assert sorted([*with_decay, *without]) == sorted(
        name for name, p in loop.model.named_parameters() if p.requires_grad
    )
    assert all(name.endswith("weight") and "LayerNorm" not in name for name in with_decay)
    assert all(
        name.endswith(("bias", "LayerNorm.weight", "objective_state.log")) or "predict" in name for name in without
    )
    assert not any(name.startswith(("guide", "start")) for name in [*with_decay, *without])
    assert ("objective_state.log" in without) == (recipe == "parallel")


def test_the_optimisers_numbers_are_the_recipes(make: Make) -> None:
    loop = make(optimiser="adam", learning_rate=3e-4, betas=(0.8, 0.9), epsilon=1e-5)
    optimiser = loop.optimiser
    assert type(optimiser) is torch.optim.Adam
    assert optimiser.defaults | {"lr": 3e-4, "betas": (0.8, 0.9), "eps": 1e-5} == optimiser.defaults
    assert loop.settings.clip == 1.0


@pytest.mark.parametrize(("optimiser", "moved"), [("adamw", 0.1 * 0.5 * 3.0), ("adam", 0.1)])
def test_adam_decays_through_the_gradient_and_adamw_beside_it(make: Make, optimiser: str, moved: float) -> None:
    loop = make(optimiser=optimiser, learning_rate=0.1, weight_decay=0.5, warmup=0)
    made = loop.optimiser
    matrix, vector = (group["params"][0] for group in made.param_groups)
    with torch.no_grad():
        for parameter in (matrix, vector):
            parameter.fill_(3.0)
            parameter.grad = torch.zeros_like(parameter)
    made.step()
    assert torch.allclose(matrix, torch.full_like(matrix, 3.0 - moved))
    assert torch.equal(vector, torch.full_like(vector, 3.0))


@pytest.mark.parametrize("schedule", ["linear", "cosine", "constant"])
@pytest.mark.parametrize("warmup", [0.0, 0.25, 0.3])
def test_the_learning_rate_follows_the_recipe(make: Make, schedule: str, warmup: float) -> None:
    steps, top, rise = 10, 2e-4, math.ceil(warmup * 10)
    loop = make(steps=steps, schedule=schedule, warmup=warmup, learning_rate=top)
    scheduler = loop.scheduler
    rates = []
    for _ in range(steps):
        rates.append(scheduler.get_last_lr()[0])
        loop.optimiser.step()
        scheduler.step()
    falls = {
        "linear": lambda share: 1 - share,
        "cosine": lambda share: (1 + math.cos(math.pi * share)) / 2,
        "constant": lambda share: 1.0,
    }
    wanted = [k / rise if k < rise else falls[schedule]((k - rise) / (steps - rise)) for k in range(steps)]
    assert rates == pytest.approx([top * share for share in wanted])


# -- what a run leaves -------------------------------------------------------------------------------------------------


def test_the_log_is_json_lines_with_all_figures(make: Make) -> None:
    loop = make(learning_rate=1e-3, warmup=0.25)
    loop.run()
    log = lines(loop)
    assert [line["step"] for line in log] == [0, 1, 1, 2, 2, 3, 3, 4, 4]
    measured, learnt = log[::2], log[1::2]
    figures = {"eval_alignment", "eval_uniformity", "eval_effective_rank", "eval_mean_cosine"}
    assert all(figures <= line.keys() for line in measured)
    assert all({"loss", "contrast", "anchor", "padding", "grad_norm"} <= line.keys() for line in learnt)
    for line in learnt:
        assert line["loss"] == pytest.approx(line["contrast"] + line["anchor"], rel=1e-5)
        assert 0 <= line["padding"] < 1
    assert [line["learning_rate"] for line in learnt] == pytest.approx([0, 1e-3, 1e-3 * 2 / 3, 1e-3 / 3])


def test_the_share_of_padding_is_that_of_the_batches(make: Make) -> None:
    loop = make("sbert-nli", batch_size=16, steps=3)
    loop.run()
    batches = [batch for k in range(3) for batch in loop.batches[k].values() if not isinstance(batch, Tensor)]
    tokens, places = (
        sum(part.numel() for part in parts)
        for parts in ([batch.token_index for batch in batches], [batch.input_ids for batch in batches])
    )
    assert tokens < places
    assert lines(loop)[-2]["padding"] == pytest.approx(1 - tokens / places)


def test_a_temperature_that_learns_and_a_score_that_is_no_number_are_logged(make: Make) -> None:
    loop = make("parallel", score=falling(1.0, math.nan, 3.0), steps=2, learning_rate=1e-2, warmup=0)
    loop.run()
    log = lines(loop)
    assert log[1]["temperature"] != log[3]["temperature"]
    assert log[3]["temperature"] == pytest.approx(loop.model.objective_state.log.exp().item())
    assert [line["eval_spearman"] for line in log if "eval_spearman" in line] == [1.0, None, 3.0]


def test_the_best_checkpoint_is_what_remains(make: Make) -> None:
    loop = make(score=falling(90, 50, 60, 40, 30), learning_rate=1e-3)
    loop.run()
    assert checkpoints(loop) == [2, 3, 4]  # the best, and the last two
    assert same(student(loop), saved_student(loop.folder, 2))
    assert not same(student(loop), saved_student(loop.folder, 4))


def test_the_last_remains_where_the_recipe_says_so(make: Make) -> None:
    loop = make(score=falling(90, 50, 60, 40, 30), learning_rate=1e-3, keep="last", save_steps=1)
    loop.run()
    assert same(student(loop), saved_student(loop.folder, 4))


def test_the_last_remains_without_a_score(make: Make) -> None:
    loop = make(learning_rate=1e-3, save_steps=1)
    loop.run()
    assert checkpoints(loop) == [3, 4]
    assert same(student(loop), saved_student(loop.folder, 4))


@pytest.mark.parametrize(
    ("patience", "scores", "last"),
    [(2, [9, 5, 6, 4, 5], 4), (1, [9, 5, 5], 2), (3, [9, 1, 2, 3, 4, 5, 6], 6)],  # the first is before the first step
)
def test_patience_stops_the_run(make: Make, patience: int, scores: list[float], last: int) -> None:
    loop = make(score=falling(*scores), steps=6, patience=patience)
    loop.run()
    assert loop.step == last
    assert max(checkpoints(loop)) == last


@pytest.mark.parametrize(
    ("scores", "last"),
    [([0, 5, 6, 4, 5, 4, 9], 5), ([9, 5, 4, 3, 9, 9, 9], 3), ([9, -1, -2, 9, 9, 9, 9], 2), ([9, 8, 9, 8, 9, 9, 9], 6)],
)
def test_patience_that_counts_drops_never_begins_anew(make: Make, scores: list[float], last: int) -> None:
    loop = make(score=falling(*scores), steps=6, patience=2, patience_counts="drops", keep="last", save_steps=1)
    loop.run()
    assert loop.step == last
    assert same(student(loop), saved_student(loop.folder, last))


def test_drops_before_a_kill_are_remembered(make: Make) -> None:
    settings: dict[str, Any] = {"steps": 6, "patience": 2, "patience_counts": "drops", "keep": "last", "save_steps": 1}
    loop = make(score=falling(0, 5, 4, 8), **settings)
    spoilt(loop, 4, lambda loss: loss * math.nan)
    with pytest.raises(IsotropeError):
        loop.run()
    resumed = make(score=falling(9, 8), **settings)
    resumed.run(resume=True)
    assert resumed.step == 5
    ended = make(score=falling(), **settings)  # killed when it had stopped: nothing is measured or learnt any more
    ended.run(resume=True)
    assert ended.step == 5


def test_the_learner_is_told_of_each_step(make: Make) -> None:
    loop = make("bsl", gradient_accumulation=2)
    told: list[float] = []
    loop.after_step = told.append
    loop.run()
    assert told == [0.25, 0.5, 0.75, 1.0]


# -- accumulation, memory, precision --------------------------------------------------------------------------------


def test_accumulated_batches_are_one_batch_where_the_loss_is_a_mean(make: Make) -> None:
    """An NLI loss has no negatives: two batches of 8 are one of 16. The plan puts the same rows into them."""
    settings: dict[str, Any] = {"steps": 2, "dropout": 0.0, "warmup": 0, "learning_rate": 1.0, "epsilon": 1.0}
    runs = [make("sbert-nli", folder=str(n), batch_size=16 // n, gradient_accumulation=n, **settings) for n in (1, 2)]
    for loop in runs:
        loop.run()
        assert loop.step == 2
    one, two = (student(loop) for loop in runs)
    assert len(runs[1].batches) == 4
    assert lines(runs[1])[1]["loss"] == pytest.approx(lines(runs[0])[1]["loss"], rel=1e-5)
    for key, value in one.items():
        assert torch.allclose(two[key], value, atol=1e-6), key


def test_what_makes_no_whole_step_is_left_out(make: Make) -> None:
    loop = make(steps=None, epochs=1, gradient_accumulation=4)  # 53 rows are 6 batches: one step
    assert len(loop.batches) == 4
    loop.run()
    assert loop.step == 1
    again = make(steps=None, epochs=1, gradient_accumulation=4)
    again.run(resume=True)  # killed before its result was saved: there is nothing left to do
    assert again.step == 1
    assert same(student(again), student(loop))


def test_gradient_checkpointing_changes_memory_only(make: Make) -> None:
    runs = []
    for on in (False, True):
        runs.append(make(folder=str(on), gradient_checkpointing=on, learning_rate=1e-3))
        runs[-1].run()
    assert runs[1].model.student.backbone.model.is_gradient_checkpointing
    without, with_it = ([line["loss"] for line in lines(loop) if "loss" in line] for loop in runs)
    assert with_it == pytest.approx(without, rel=1e-6)
    assert len(set(without)) == 4


def test_what_another_trainer_computed_in_changes_nothing(make: Make, tmp_path: Path) -> None:
    runs = [make(folder="before", steps=2)]
    runs[0].run()
    arguments = TrainingArguments(output_dir=str(tmp_path / "other"), bf16=True, use_cpu=True, report_to="none")
    Trainer(model=torch.nn.Linear(2, 2), args=arguments)
    runs.append(make(folder="after", steps=2))
    runs[1].run()
    assert same(student(runs[1]), student(runs[0]))


def test_bfloat16_runs_and_learns_about_the_same(make: Make) -> None:
    settings: dict[str, Any] = {"dropout": 0.0, "objective.temperature": 0.1}
    runs = [make(folder=kind, precision=kind, **settings) for kind in ("float32", "bfloat16")]
    for loop in runs:
        loop.run()
        assert all(value.dtype == torch.float32 for value in student(loop).values() if value.is_floating_point())
    full_precision, half = ([line["loss"] for line in lines(loop) if "loss" in line] for loop in runs)
    assert half == pytest.approx(full_precision, rel=0.02)
    assert half != full_precision
