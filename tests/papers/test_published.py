"""The published tables: what they print adds up, and what they name is there."""

from __future__ import annotations

import pytest

from isotrope import recipes
from isotrope.baselines.base import BASELINES
from isotrope.evaluation.tasks import read_task
from isotrope.io.errors import IsotropeError
from isotrope.papers.jobs import jobs_of, variant_for
from isotrope.papers.published import PAPERS, Published, Value, published, reproductions
from isotrope.papers.texts import NAMED

TABLES = {table.name: table for table in reproductions()}
ROUNDED = 0.0101  # a printed average may be rounded either way, and its parts were rounded before


@pytest.mark.parametrize("name", TABLES)
def test_printed_averages_are_those_of_their_rows_or_listed_as_misprints(name: str) -> None:
    table = TABLES[name]
    wrong = {
        (row.full_name, column.name)
        for row, column, printed, computed in table.averages()
        if abs(printed - computed) > ROUNDED
    }
    listed = {(one.row, one.column): one.note for one in table.misprints}
    assert wrong <= set(listed)
    for place, note in listed.items():  # what is said to be wrong in a sum is wrong
        assert place in wrong or "average to" not in note or "72.03" in note


def test_most_averages_could_be_checked() -> None:
    assert sum(len(list(table.averages())) for table in TABLES.values()) > 130


@pytest.mark.parametrize("name", TABLES)
def test_what_a_table_names_is_there(name: str) -> None:
    table = TABLES[name]
    for column in table.columns:
        if column.task:
            spec = read_task(column.task, split=column.split)
            assert column.metric is None or column.metric in spec.metrics, column.name
        assert not (column.task and column.average)
    for row in table.can_be_run:
        making = row.run
        assert making is not None
        assert all(part in NAMED for part in (making.text or table.text).split("+"))
        for model in (making.model or table.model, "bundled"):
            for job in jobs_of(making, [1], model=model, text=table.text, dev=table.dev):
                assert job.resolved() is not None or job.recipe is None
        if making.baseline:
            assert set(making.options) <= set(BASELINES.resolve(making.baseline).model_fields)


def test_all_four_papers_are_there_in_their_order() -> None:
    papers = [table.name.partition("/")[0] for table in reproductions()]
    assert list(dict.fromkeys(papers)) == list(PAPERS)
    assert [name for name in TABLES if name.startswith("sg-opt/table")][-2:] == ["sg-opt/table10", "sg-opt/table11"]


def test_values_are_read_as_they_are_printed() -> None:
    table = published("sg-opt/table1")
    row = next(row for row in table.rows if row.full_name == "BERT-base: Contrastive (SG-OPT), CLS")
    assert row.values[0] == Value(77.23, 0.43)
    assert table.value(row, table.columns[-1]) == Value(74.62, 0.25)
    assert published("consert/figure7").rows[0].values[-1] is None


def test_the_steps_of_the_objective_are_the_recipes_of_their_names() -> None:
    rows = {row.name: row.run for row in published("sg-opt/table5").rows}
    for name, recipe in (("L^opt1", "sg-opt1"), ("L^opt2", "sg-opt2")):
        (job,) = jobs_of(rows[name], [1], model="bert-base-uncased", text="stsb")  # type: ignore[arg-type]
        made = job.resolved()
        assert made is not None
        assert made.stages == recipes.load(recipe).stages


def test_a_recipe_is_used_with_the_numbers_for_the_model() -> None:
    assert variant_for("sg-opt", "bundled") == "sg-opt:bundled"
    assert variant_for("sg-opt", "bert-base-uncased") == "sg-opt"
    assert variant_for("sg-opt:senteval", "bundled") == "sg-opt:senteval"


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"name": "a", "values": "1 2"}], "row 'a' has 2 values for 1 columns"),
        ([{"name": "a"}, {"name": "a"}], "two rows are called 'a'"),
        ([{"name": "a", "values": "1,5"}], "'1,5' is not a figure"),
    ],
)
def test_a_table_that_does_not_fit_is_refused(rows: list[dict[str, str]], message: str) -> None:
    words = dict.fromkeys(("name", "label", "paper", "caption", "metric"), "x")
    with pytest.raises(ValueError, match=message):
        Published(**words, columns=[{"name": "one"}], rows=rows)  # type: ignore[arg-type]


def test_an_unknown_table_is_an_error_that_names_the_nearest() -> None:
    with pytest.raises(IsotropeError, match=r"unknown table 'sg-opt/table111' \(did you mean 'sg-opt/table11'\?\)"):
        published("sg-opt/table111")
