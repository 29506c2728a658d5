"""Successive halving: who is tried in each rung, and for how many steps. Pure arithmetic; knows no encoder.

Jamieson & Talwalkar 2016, Non-stochastic Best Arm Identification and Hyperparameter Optimization (AISTATS); Li et al.
2018, Hyperband (JMLR). n candidates begin; in each of R = ceil(log2 n) + 1 rungs the better half of the last goes on,
and what is left of the budget B is shared equally by the rungs that are left, and by the candidates of a rung:

    seconds of a trial in rung k = B_left / ((R - k) n_k),   n_0 = n,  n_(k+1) = ceil(n_k / 2)

A recipe has a number of steps of its own, which is the most that a trial takes: 2^(k - R + 1) of it in rung k, so all
of it in the last. A trial is a run of its own from the start, since the learning rate follows the number of steps. What
has no steps (a fit) is done in the first rung, is not halved, and meets the others at the end.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

FEWEST_STEPS = 5  # fewer say nothing about a recipe, unless its own are so few


@dataclass(frozen=True)
class Contender:
    """A candidate and what it costs: seconds whatever it does, and of each step. Without steps it is a fit.

    `done` are the steps of its last trial.
    """

    name: str
    steps: int
    fixed: float
    step: float = 0.0
    done: int = 0

    @property
    def least(self) -> float:
        """Seconds of the shortest trial that says anything."""
        return self.fixed + min(FEWEST_STEPS, self.steps) * self.step

    def after(self, seconds: float, steps: int) -> Contender:
        """With what its last trial really took."""
        return replace(self, fixed=0.0, step=seconds / max(steps, 1), done=steps)


@dataclass(frozen=True)
class Planned:
    """A trial to come, and the seconds that it is expected to take."""

    name: str
    steps: int
    seconds: float


def rungs_for(contenders: Sequence[Contender]) -> int:
    """R, or the rungs that are left for those that are left."""
    learners = sum(one.steps > 0 for one in contenders)
    return math.ceil(math.log2(learners)) + 1 if learners else 1


def better_half(ranked: Sequence[str], planned: Sequence[Planned]) -> list[str]:
    """Who goes on of a rung, whose names come with the best first, without those that failed.

    Nobody where a single one with steps was planned: it has taken all of them.
    """
    learners = [one.name for one in planned if one.steps]
    best = [name for name in ranked if name in learners]
    return best[: math.ceil(len(learners) / 2)] if len(learners) > 1 else []


def plan_rung(contenders: Sequence[Contender], left: float) -> list[Planned]:
    """The trials of the next rung within the seconds that are left; where they are too few, the costliest drop out."""
    planned = []
    for one in sorted((one for one in contenders if not one.steps), key=lambda one: one.fixed):
        if one.fixed <= left:
            planned.append(Planned(one.name, 0, one.fixed))
            left -= one.fixed
    learners = sorted((one for one in contenders if one.steps), key=lambda one: one.least)
    while learners:
        rungs = rungs_for(learners)
        found = [_trial(one, 2.0 ** (1 - rungs), left / rungs / len(learners)) for one in learners]
        if all(found):
            return [*planned, *(one for one in found if one)]
        learners.pop()
    return planned


def _trial(one: Contender, share: float, seconds: float) -> Planned | None:
    """As many steps as are wanted and fit into the time; None where that is too few."""
    wanted = max(1, round(share * one.steps))
    steps = min(wanted, int((seconds - one.fixed) / one.step)) if one.step else wanted
    enough = one.fixed <= seconds and steps >= min(FEWEST_STEPS, wanted) and steps > one.done
    return Planned(one.name, steps, one.fixed + steps * one.step) if enough else None
