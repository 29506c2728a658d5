"""Who is tried, and for how many steps."""

from __future__ import annotations

from itertools import pairwise

import pytest

from isotrope.training.halving import Contender, Planned, better_half, plan_rung, rungs_for

PLENTY = 1e9


def learners(count: int, steps: int = 80, step: float = 1.0) -> list[Contender]:
    return [Contender(f"r{k}", steps, fixed=2.0, step=step) for k in range(count)]


def schedule(contenders: list[Contender], left: float) -> list[list[Planned]]:
    """All rungs, where trials take as long as expected and the first of a rung is the best."""
    rungs = []
    while contenders and (planned := plan_rung(contenders, left)):
        rungs.append(planned)
        left -= sum(one.seconds for one in planned)
        known = {one.name: one for one in contenders if one.steps}
        tried = {one.name: one for one in planned if one.steps}
        contenders = [
            known[name].after(tried[name].seconds, tried[name].steps) for name in better_half(list(tried), planned)
        ]
    return rungs


@pytest.mark.parametrize(
    ("count", "rungs"),
    [
        (1, [(1, 80)]),
        (2, [(2, 40), (1, 80)]),
        (3, [(3, 20), (2, 40), (1, 80)]),
        (4, [(4, 20), (2, 40), (1, 80)]),
        (5, [(5, 10), (3, 20), (2, 40), (1, 80)]),
    ],
)
def test_the_better_half_goes_on_with_twice_the_steps(count: int, rungs: list[tuple[int, int]]) -> None:
    found = schedule(learners(count), PLENTY)
    assert [(len(rung), {one.steps for one in rung}) for rung in found] == [(many, {steps}) for many, steps in rungs]
    assert rungs_for(learners(count)) == len(rungs)


def test_what_has_no_steps_is_tried_once() -> None:
    fits = [Contender("a", 0, fixed=5.0), Contender("b", 0, fixed=3.0)]
    found = schedule([*fits, *learners(2)], PLENTY)
    assert [[one.name for one in rung] for rung in found] == [["b", "a", "r0", "r1"], ["r0"]]
    assert schedule(fits, 4.0) == [[Planned("b", 0, 3.0)]]
    assert schedule(fits, 2.9) == []


@pytest.mark.parametrize("budget", [20, 50, 100, 200, 1000])
@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_all_rungs_together_stay_within_the_budget(count: int, budget: float) -> None:
    fits = [Contender("a", 0, fixed=5.0)]
    found = schedule([*fits, *learners(count)], budget)
    assert sum(one.seconds for rung in found for one in rung) <= budget
    assert len(found) >= 1
    for earlier, later in pairwise(found):
        steps = {one.name: one.steps for one in earlier}
        assert all(one.steps > steps[one.name] for one in later)


def test_where_time_is_short_the_costliest_drop_out() -> None:
    quick, slow = Contender("quick", 80, 2.0, 0.1), Contender("slow", 80, 2.0, 10.0)
    assert [one.name for one in plan_rung([slow, quick], 40.0)] == ["quick"]
    assert [one.steps for one in plan_rung([slow, quick], 40.0)] == [80]  # it is the only one: all of its steps
    assert plan_rung([slow], 40.0) == []


def test_a_recipe_of_few_steps_may_take_fewer_than_others() -> None:
    assert plan_rung(learners(1, steps=2), PLENTY) == [Planned("r0", 2, 4.0)]


def test_where_others_failed_the_last_goes_on_unless_it_was_alone() -> None:
    alone, other, fit = Planned("alone", 4, 1.0), Planned("other", 4, 1.0), Planned("fit", 0, 1.0)
    assert better_half(["fit", "alone"], [fit, alone, other]) == ["alone"]
    assert better_half(["fit", "alone"], [fit, alone]) == []
    assert better_half([], [fit, alone, other]) == []
