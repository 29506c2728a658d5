"""A stage of a recipe in the words of the loop."""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path
from typing import Any

from isotrope.training.bar import RunBar
from isotrope.training.batches import StageBatches
from isotrope.training.learner import Learner
from isotrope.training.loop import Evaluations, Loop, LoopSettings, never
from isotrope.training.monitor import PATIENCE, Monitor
from isotrope.training.optimisers import OPTIMISERS, decayed_and_exempt


def groups_of(learner: Learner, weight_decay: float) -> list[dict[str, Any]]:
    """What the optimiser moves; what the objective trains by a learning rate of its own is a group of its own."""
    rate = learner.stage.objective.rate_of_its_own()
    return decayed_and_exempt(learner, weight_decay, learner.objective_state, rate)


def stage_loop(learner: Learner, batches: StageBatches, monitor: Monitor, folder: Path, bar: RunBar) -> Loop:
    """The loop of one stage: the recipe's numbers; the monitor measures; the best or the last checkpoint remains."""
    training = learner.stage.training
    best = monitor.score is not None and training.keep == "best"
    steps = max(1, len(batches) // training.gradient_accumulation)

    def out_of_patience(evaluations: Evaluations) -> bool:
        """By the evaluations in the checkpoint, so a resumed run stops where the uninterrupted one did."""
        lost = PATIENCE[training.patience_counts](evaluations)
        return training.patience is not None and lost >= training.patience

    return Loop(
        learner,
        OPTIMISERS[training.optimiser](
            groups_of(learner, training.weight_decay),
            lr=training.learning_rate,
            betas=training.betas,
            eps=training.epsilon,
        ),
        batches,
        folder,
        LoopSettings(
            steps=steps,
            schedule=training.schedule if training.schedule != "constant" else "constant_with_warmup",
            warmup=math.ceil(training.warmup * steps),
            clip=training.clip,
            log_steps=min(10, training.eval_steps),
            save_steps=training.eval_steps if best else training.save_steps,
            eval_steps=training.eval_steps,
            also_eval=partial(_ends_epoch, batches) if training.eval_epochs else never,
            accumulation=training.gradient_accumulation,
            keep_best=best,
            precision=training.precision,
            computes_again=training.gradient_cache is not None or training.gradient_checkpointing,
            report_to=training.report_to,
            seed=training.seed,
        ),
        bar,
        after_step=learner.after_step,
        figures=learner.log_figures,
        measure=lambda: monitor.figures(learner),
        should_stop=out_of_patience,
        advice="lower training.learning_rate or raise objective.temperature",
    )


def _ends_epoch(batches: StageBatches, step: int) -> bool:
    """Whether the last batch of an epoch, but for that of the run, is in a step."""
    plan, each = batches.plan, batches.stage.training.gradient_accumulation
    after = min(step * each, len(plan) - 1)
    return plan.epoch_of(after) > plan.epoch_of((step - 1) * each)
