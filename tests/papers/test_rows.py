"""Every table and figure of the papers is there, and what makes a row is what the paper says of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from isotrope import recipes
from isotrope.papers.jobs import Job, jobs_of
from isotrope.papers.published import Published, Row, published, reproductions
from isotrope.papers.texts import Texts

WANTED = {
    "sg-opt": "figure1 figure4 figure5 figure6 table1 table2 table3 table4 table5 table6 table7 table10 table11",
    "consert": "figure1 figure4 figure5 figure6 figure7 table2 table3 table4",
    "bsl": "table1 table2 table3 table4 table6 table7 table10",
    "parallel": "figure4 table1 table2 table3 table4 table5 table6 table7 table8",
}


def job_of(table: Published, row: Row, model: str | None = None) -> Job:
    """As `reproduce` makes it: of the model that is given in place of the row's, or of the row's own."""
    assert row.run is not None
    making = row.run.model_copy(update={"model": model or row.run.model})
    (job,) = jobs_of(making, [1], model=model or table.model, text=table.text, dev=table.dev)
    return job


def row_of(table: str, name: str) -> tuple[Published, Row]:
    known = published(table)
    return known, next(row for row in known.rows if row.full_name == name)


@pytest.mark.parametrize("paper", WANTED)
def test_tables_and_figures_are_there(paper: str) -> None:
    there = {table.name for table in reproductions()}
    assert {f"{paper}/{name}" for name in WANTED[paper].split()} <= there


def test_texts_that_baselines_are_fitted_on_are_known(tmp_path: Path) -> None:
    for table in reproductions():
        for row in table.can_be_run:
            if row.run is not None and row.run.fitted_on:
                Texts(tmp_path).check(row.run.fitted_on)


def test_five_languages_are_learnt_from() -> None:
    for name in ("Unsupervised methods: BSL-uns", "Supervised methods: BSL-sup"):
        job = job_of(*row_of("bsl/table3", name))
        assert (job.recipe, job.text) == ("bsl-multilingual", "xnli-five")


def test_fine_tuned_chinese_encoders_have_the_stages_of_the_pipeline() -> None:
    pipeline = recipes.load("parallel-pipeline").stages
    step_a, tuned = job_of(*row_of("parallel/table4", "Ours")), job_of(*row_of("parallel/table4", "Ours+F"))
    made = tuned.resolved()
    assert made is not None
    assert made.stages == tuple(stage.model_copy(update={"start": "previous"}) for stage in pipeline[:2])
    assert step_a.text in tuned.text.split("+")


def test_large_models_have_the_numbers_of_table_6() -> None:
    columns = {column.name: place for place, column in enumerate(published("parallel/table6").columns)}
    printed = [row.values for row in published("parallel/table6").rows]
    for name, place in columns.items():
        recipe = job_of(*row_of("parallel/table2", f"{name}: Ours-{name} (WMT)")).resolved()
        assert recipe is not None
        (stage,) = recipe.stages
        batch, rate, queue = (value.value for values in printed if (value := values[place]))
        assert (stage.training.batch_size, stage.queue.size) == (batch, queue)
        assert stage.training.learning_rate == pytest.approx(rate * 1e-5)
        tuned = job_of(*row_of("parallel/table2", f"{name}: Ours-{name} (WMT), fine-tuned on NLI")).resolved()
        assert tuned is not None
        assert tuned.stages[0].queue == stage.queue
        assert tuned.stages[0].training == stage.training
        assert tuned.stages[1].training.batch_size == (96 if name.endswith("large") else 128)


def test_entailment_pairs_are_read_as_views_whatever_the_model() -> None:
    for name in ("NLI-entail", "Back-translation + NLI-entail"):
        for model in (None, "bundled"):
            recipe = job_of(*row_of("bsl/table4", f"Augmentation: {name}"), model).resolved()
            assert recipe is not None
            assert recipe.stages[0].columns == ("view1", "view2")
