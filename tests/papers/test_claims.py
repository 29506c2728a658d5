"""Claims: what they name is there, and they are judged as the figures are."""

from __future__ import annotations

from dataclasses import replace

import pytest
from scipy.stats import ttest_rel

from isotrope.papers.checking import Claims
from isotrope.papers.claims import Claim, claims, judge, paired_p
from isotrope.papers.published import PAPERS, Published, published
from isotrope.papers.result import MeasuredRow, Reproduction, Setting

ORDER = {"paper": "mine", "says": "a > b", "where": "Table 1", "table": "mine/table1", "order": ["a", "b"]}
FIGURES = {
    "holds": ([60.0, 61.0, 62.0], [50.0, 51.2, 52.1]),
    "does not hold": ([50.0, 51.2, 52.1], [60.0, 61.0, 62.0]),
    "within noise": ([60.0, 50.0, 55.0], [50.0, 60.0, 54.0]),
}


def found(untuned: float | None = None, **rows: list[float]) -> Reproduction:
    words = {"name": "mine/table1", "label": "Table 1", "paper": "Mine", "caption": "A table.", "metric": "x 100"}
    table = Published(**words, columns=[{"name": "STS"}], rows=[{"name": name} for name in rows])  # type: ignore[arg-type]
    measured = tuple(
        MeasuredRow(row, tuple({"STS": value} for value in rows[row.name]), 3, untuned="untuned, cls")
        for row in table.rows
    )
    row = table.rows[0].model_copy(update={"name": "untuned, cls"})
    beside = () if untuned is None else (MeasuredRow(row, ({"STS": untuned},), 1),)
    return Reproduction(table, Setting(seeds=3), measured, beside)


@pytest.mark.parametrize("judgement", FIGURES)
def test_an_order_is_judged_by_a_paired_test(judgement: str) -> None:
    a, b = FIGURES[judgement]
    judged = judge(Claim(**ORDER), found(a=a, b=b))  # type: ignore[arg-type]
    assert judged.judgement == judgement
    assert judged.compared[0].p == pytest.approx(ttest_rel(a, b).pvalue)
    assert judged.compared[0].differences == tuple(x - y for x, y in zip(a, b, strict=True))


def test_one_seed_decides_nothing_and_a_missing_row_is_said() -> None:
    assert paired_p([3.0]) is None
    assert (paired_p([0.0, 0.0]), paired_p([1.0, 1.0])) == (1.0, 0.0)
    judged = judge(Claim(**ORDER), found(a=[60.0, 61.0, 62.0], b=[]))  # type: ignore[arg-type]
    assert judged.judgement == "not measured"
    assert "not measured: b (not done)" in judged.remarks[0]


@pytest.mark.parametrize(("seeds", "judgement"), [(3, "holds"), (1, "within noise")])
def test_rows_without_chance_need_no_seeds(seeds: int, judgement: str) -> None:
    """Of three seeds wanted such rows have one run; of one seed, a row that was tuned has one too."""
    both = found(a=[60.0], b=[55.0])
    alone = tuple(replace(one, wanted=1) for one in both.rows)
    given = replace(both, rows=alone, setting=Setting(seeds=seeds))
    assert judge(Claim(**ORDER), given).judgement == judgement  # type: ignore[arg-type]


def test_rows_that_all_lie_below_the_untuned_encoder_are_told() -> None:
    a, b = FIGURES["holds"]
    below = judge(Claim(**ORDER), found(untuned=70.0, a=a, b=b))  # type: ignore[arg-type]
    assert below.untuned == 70.0
    assert "all rows are below the untuned encoder" in below.remarks[0]
    between = judge(Claim(**ORDER), found(untuned=55.0, a=a, b=b))  # type: ignore[arg-type]
    assert not between.remarks
    shown = Claims((below,), "Claims").markdown()
    assert "| mine, Table 1: a > b | holds |" in shown
    assert "| a: 61.00 | b: 51.10 | +9.90 |" in shown


@pytest.mark.parametrize(
    ("comparison", "judgement"),
    [
        ({"greater": {"rows": ["a", "b"], "of": "min"}, "than": {"untuned": True}}, "does not hold"),
        ({"greater": {"rows": ["a"]}, "than": {"untuned": True}}, "holds"),
        ({"greater": {"rows": ["b"]}, "than": {"rows": ["a"]}, "by": -20.0}, "holds"),
        ({"greater": {"rows": ["a"]}, "than": {"rows": ["b"]}, "by": 20.0}, "does not hold"),
        ({"greater": {"rows": ["a", "b"], "of": "range"}, "than": {"rows": ["b"], "of": "range"}}, "holds"),
        ({"greater": {"untuned": True, "rows": ["b"]}, "than": {"rows": ["b"]}}, "holds"),
    ],
)
def test_other_figures_than_means_can_be_compared(comparison: object, judgement: str) -> None:
    a, b = FIGURES["holds"]
    claim = Claim(paper="mine", says="x", where="y", table="mine/table1", comparisons=[comparison])  # type: ignore[list-item]
    assert judge(claim, found(untuned=56.0, a=a, b=b)).judgement == judgement


def test_the_papers_claims_name_rows_and_columns_that_are_there() -> None:
    assert list(dict.fromkeys(claim.paper for claim in claims())) == list(PAPERS)
    for claim in claims():
        table = published(claim.table)
        runnable = {row.full_name for row in table.can_be_run}
        assert claim.comparisons
        assert set(claim.rows) <= runnable, claim.says
        assert claim.column is None or claim.column in [column.name for column in table.columns]


def test_what_the_papers_claim_is_what_they_print() -> None:
    """By the published means, every claim whose rows have values is true."""
    told = 0
    for claim in claims():
        table = published(claim.table)
        values = {row.full_name: row.values[-1] for row in table.rows if row.values}
        for one in claim.comparisons:
            sides = [[values.get(name) for name in side.rows] for side in (one.greater, one.than)]
            untuned = one.greater.untuned or one.than.untuned
            if not untuned and all(len(side) == 1 and side[0] for side in sides):
                (a,), (b,) = sides
                assert a and b and a.value - b.value > one.by, claim.says  # noqa: PT018
                told += 1
    assert told > 15
