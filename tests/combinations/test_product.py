"""Every combination of parts is refused in one line, or it works: it learns, is saved and resumed exactly.

`make sweep` tries the whole product. The suite tries every guide with every objective under every heads, each with
two of the eight settings of queue, symmetry and hard negatives in turn, and every view on either side of every guide.
"""

from __future__ import annotations

import itertools
import os
import sys
from pathlib import Path

import pytest
import torch

from isotrope import recipes

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from .product import (
    DISTILLATION,
    DRAWN,
    GUIDES,
    HEADS,
    NEGATIVES,
    OBJECTIVES,
    PAIR,
    SWITCHES,
    VIEWS,
    Bench,
    Table,
    accepted,
    combination,
    optimiser_of,
)

UNGUIDED = ("mlm", "tsdae", "none")  # objectives that compare no two views
WHOLE = os.environ.get("ISOTROPE_SWEEP") == "whole"


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(tmp_path_factory.mktemp("tiny"))


def works_or_is_refused(bench: Bench, table: Table) -> bool:
    """A step; then a fresh learner that was given its state takes the same second step."""
    stage, refusal = accepted(table)
    if stage is None:
        assert 0 < len(refusal) < 300
        assert "\n" not in refusal
        return False
    learner = bench.learner(stage)
    optimiser = optimiser_of(learner)
    bench.step(learner, optimiser, 1)
    resumed = bench.learner(stage, seed=9)
    resumed.load_state_dict(learner.state_dict())
    assert bench.step(resumed, optimiser_of(resumed), 2) == bench.step(learner, optimiser, 2)
    again = resumed.state_dict()
    for name, value in learner.state_dict().items():
        assert torch.equal(value, again[name]), name
    return True


@pytest.mark.parametrize(("guide", "objective"), list(itertools.product(GUIDES, OBJECTIVES)))
def test_guides_objectives_heads_queue_symmetry_negatives(bench: Bench, guide: str, objective: str) -> None:
    unseen = guide == "cached teacher" or objective in UNGUIDED  # these take no view at the embedding layer
    views = list(itertools.product(VIEWS, VIEWS)) if WHOLE else [("none", "none") if unseen else ("token", "shuffle")]
    first = 8 * list(GUIDES).index(guide) + list(OBJECTIVES).index(objective)
    tried = []
    for k, heads in enumerate(HEADS):
        some = SWITCHES if WHOLE else [SWITCHES[(first + 2 * k + j) % 8] for j in (0, 3)]
        some = SWITCHES[:1] if k == 0 and not WHOLE else some
        for pair, switches in itertools.product(views, some):
            tried.append(works_or_is_refused(bench, combination(*pair, guide, objective, heads, *switches)))
    layers_fit = (guide == "layers") == (objective == "opt3")
    guide_is_read = objective not in UNGUIDED or guide == "self"
    assert any(tried) == (layers_fit and guide_is_read)
    if WHOLE:
        print(f"{guide} x {objective}: {sum(tried)} run, {len(tried) - sum(tried)} refused")


@pytest.mark.parametrize("guide", GUIDES)
@pytest.mark.parametrize("first", VIEWS)
def test_views_on_either_side(bench: Bench, first: str, guide: str) -> None:
    objective = "opt3" if guide == "layers" else "info-nce"
    for k, second in enumerate(VIEWS):
        symmetric = k % 2 == list(VIEWS).index(first) % 2 and guide in ("self", "layers", "momentum")
        works_or_is_refused(bench, combination(first, second, guide, objective, "bare", symmetric=symmetric))


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("guide", GUIDES)
def test_guided_negatives(bench: Bench, guide: str, objective: str) -> None:
    heads = "student only" if GUIDES[guide].get("model") else "both"
    first = list(GUIDES).index(guide) + list(OBJECTIVES).index(objective)
    for k, negatives in enumerate(NEGATIVES.values()):
        for switches in SWITCHES if WHOLE else [SWITCHES[(first + k) % 8], SWITCHES[5]]:  # a queue and hard negatives
            table = combination("none", "none", guide, objective, heads, *switches)
            plain, guided = accepted(table)[0], accepted(table | {"negatives": negatives})[0]
            has_negatives = objective not in ("bootstrap", "mlm", "none")
            assert (guided is not None) == (plain is not None and has_negatives)
            works_or_is_refused(bench, table | {"negatives": negatives})


@pytest.mark.parametrize("guide", GUIDES)
def test_drawn_texts_on_either_side(bench: Bench, guide: str) -> None:
    """Every pair of ways to draw; refused where one must be drawn with the other, or where vectors are looked up."""
    objective = "opt3" if guide == "layers" else "info-nce"
    for first, second in itertools.product(DRAWN, DRAWN):
        table = combination("shuffle", "none", guide, objective, "bare", queue=6)
        table["views"]["first"] |= DRAWN[first]
        table["views"]["second"] |= DRAWN[second]
        apart = "apart" in (first, second) and first != second
        looked_up = guide == "cached teacher" and second not in ("none", "neighbours")
        assert works_or_is_refused(bench, table) == (not apart and not looked_up)


@pytest.mark.parametrize("objective", UNGUIDED)
def test_drawn_texts_of_one_view(bench: Bench, objective: str) -> None:
    for drawn in DRAWN:
        table = combination("none", "none", "self", objective, "bare")
        table["views"]["first"] |= DRAWN[drawn]
        wanted = drawn == "none" or (objective != "none" and drawn != "apart")
        assert works_or_is_refused(bench, table) == wanted


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("guide", GUIDES)
def test_distillation(bench: Bench, guide: str, objective: str) -> None:
    """With every objective and guide, and where there is nothing else to learn."""
    for k, (kind, distillation) in enumerate(DISTILLATION.items()):
        table = combination("none", "none", guide, objective, "bare", *SWITCHES[2 * k % 8])
        plain = accepted(table)[0]
        two_views = guide == "self" and objective not in ("mlm", "none")
        table |= {"distillation": distillation}
        assert works_or_is_refused(bench, table) == (plain is not None and (kind != "listmle" or two_views))
        if objective == "none":
            alone = {key: value for key, value in table.items() if key != "supervision"}
            assert works_or_is_refused(bench, alone) == (plain is not None and kind != "listmle")


def test_distillation_through_the_first_view(bench: Bench) -> None:
    """Without an objective the student still sees its view, of several columns too, and a text that is drawn."""
    for first in (*VIEWS, *DRAWN):
        table = combination("none", "none", "self", "none", "bare") | {"distillation": DISTILLATION["similarities"]}
        table["views"] = {"first": VIEWS[first] if first in VIEWS else DRAWN[first]}
        if first == "adversarial":
            table["views"]["second"] = {"column": PAIR}
        assert works_or_is_refused(bench, table) == (first not in ("apart", "adversarial"))


@pytest.mark.parametrize("heads", ["bare", "both", "momentum", "student only"])
def test_the_queue_of_a_momentum_copy(bench: Bench, heads: str) -> None:
    """It works with whatever has negatives, and only where there is a queue."""
    for objective, (queue, symmetric, negative) in itertools.product(("nt-xent", "info-nce", "bootstrap"), SWITCHES):
        table = combination("token", "none", "self", objective, heads, queue, symmetric, negative)
        table["guide"] = {"kind": "momentum-queue", "momentum": 0.9}
        doubled = symmetric and objective == "nt-xent" and heads == "bare"
        wanted = queue and objective != "bootstrap" and heads != "momentum" and not doubled
        assert works_or_is_refused(bench, table) == wanted


def test_the_adversarial_view_works_on_either_side(bench: Bench) -> None:
    for first, second, guide in itertools.product(
        ("none", "adversarial"), ("shuffle", "adversarial"), ("self", "momentum")
    ):
        assert works_or_is_refused(bench, combination(first, second, guide, "info-nce", "bare"))


def test_the_readmes_example(bench: Bench) -> None:
    """ConSERT's views, a momentum guide and a queue: a new file and no code."""
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    table = tomllib.loads(readme.partition("```toml\n")[2].partition("```")[0])
    stage = recipes.load(table, {"training.batch_size": 4}).stages[0]
    assert (stage.views.first.kind, stage.guide.kind, stage.queue.size) == ("feature-cutoff", "momentum", 1024)
    learner = bench.learner(stage)
    optimiser = optimiser_of(learner)
    losses = [bench.step(learner, optimiser, seed) for seed in (1, 2)]
    assert learner.queue is not None
    assert int(learner.queue.seen) == 8
    alone = bench.learner(recipes.load(table, {"training.batch_size": 4, "queue.size": 0}).stages[0])
    optimiser = optimiser_of(alone)
    assert bench.step(alone, optimiser, 1) == losses[0]  # the queue begins empty ...
    assert bench.step(alone, optimiser, 2) < losses[1]  # ... and then adds to the denominator
