"""The rows of a table have the paper's numbers: what it varies, and nothing else."""

from __future__ import annotations

import pytest

from isotrope.papers.jobs import jobs_of
from isotrope.papers.published import published
from isotrope.recipes.schema import Stage

SEEDS = (1, 2, 3, 4, 1234, 2345, 3456, 7890)  # paper 1, Tables 8 and 9


def stages_of(table: str, model: str) -> dict[str, Stage]:
    """The last stage of every row that is trained."""
    known = published(table)
    found = {}
    for row in known.can_be_run:
        assert row.run is not None
        (job,) = jobs_of(row.run.model_copy(update={"model": None}), [1], model=model, text=known.text, dev=known.dev)
        recipe = job.resolved()
        assert recipe is not None
        found[row.full_name] = recipe.stages[-1]
    return found


@pytest.mark.parametrize("model", ["bert-base-uncased", "bundled"])
def test_few_texts_are_repeated_to_the_size_of_the_whole(model: str) -> None:
    stages = stages_of("consert/figure6", model)
    wanted = {row.full_name: row.x for row in published("consert/figure6").rows}
    assert {name: stage.training.few_shot or 89_192 for name, stage in stages.items()} == wanted


@pytest.mark.parametrize("model", ["roberta-base", "bundled"])
@pytest.mark.parametrize("table", ["parallel/table5", "parallel/figure4"])
def test_encoders_are_compared_under_the_same_numbers(table: str, model: str) -> None:
    """Section 4.4.2: "we unify the hyperparameters of different objectives"."""
    stages = stages_of(table, model)
    assert {stage.guide.kind for stage in stages.values()} == {"self", "dual", "teacher"}
    first, *others = stages.values()
    for other in others:
        assert (other.training, other.objective, other.pooling, other.queue) == (
            *(first.training, first.objective, first.pooling),
            first.queue,
        )


def test_seeds_are_the_papers_own_as_far_as_they_go() -> None:
    table = published("sg-opt/table1")
    assert table.seeds == table.seed_numbers(8) == SEEDS
    assert table.seed_numbers(3) == (1, 2, 3)
    assert table.seed_numbers(10) == (*SEEDS, 5, 6)
    assert published("consert/table2").seed_numbers(3) == (1, 2, 3)
    assert published("sg-opt/table4").classifier_seeds == SEEDS
