"""What the papers claim about the order of their rows, as data, and whether it holds here.

A claim is a list of comparisons, each of two figures that every seed has: the mean (or the highest, the lowest, the
range) of some rows of a table is greater than that of others. It holds if every comparison does by a paired test over
the seeds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import pairwise
from statistics import mean
from typing import Any, Literal

from pydantic import model_validator

from isotrope.papers.published import PAPERS, Data
from isotrope.papers.result import MeasuredRow, Reproduction
from isotrope.recipes.files import SUFFIX, parse

FOLDER = files("isotrope.papers") / "claims"
SURE = 0.05  # p of the paired test below which a difference counts
Judgement = Literal["holds", "does not hold", "within noise", "not measured"]
HOLDS: Judgement = "holds"
FAILS: Judgement = "does not hold"
NOISE: Judgement = "within noise"
UNKNOWN: Judgement = "not measured"
REDUCTIONS: dict[str, Callable[[Sequence[float]], float]] = {
    "mean": mean,
    "max": max,
    "min": min,
    "range": lambda values: max(values) - min(values),
}


class Quantity(Data):
    """A figure that every seed has: of some rows, or of the untuned encoder beside those that it is compared with."""

    rows: tuple[str, ...] = ()
    of: Literal["mean", "max", "min", "range"] = "mean"
    untuned: bool = False

    def words(self) -> str:
        """`mean of a, b`."""
        if self.untuned:
            return "the untuned encoder"
        named = ", ".join(self.rows)
        return named if len(self.rows) < 2 else f"{self.of} of {named}"


class Comparison(Data):
    """`greater` is greater than `than`, and if `by` is given, by so much; a `by` below 0 allows it to be less."""

    greater: Quantity
    than: Quantity
    by: float = 0.0


class Claim(Data):
    """What a paper says about a table."""

    paper: str
    says: str
    where: str
    table: str
    column: str | None = None  # None: the last
    comparisons: tuple[Comparison, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _spelt_out(cls, given: Any) -> Any:
        """`order = [best, ..., worst]` stands for a comparison of each with the next."""
        values = dict(given)
        order = values.pop("order", [])
        pairs = [{"greater": {"rows": [a]}, "than": {"rows": [b]}} for a, b in pairwise(order)]
        return {**values, "comparisons": [*pairs, *values.get("comparisons", [])]}

    @property
    def rows(self) -> list[str]:
        """All rows that it speaks of."""
        both = (side for one in self.comparisons for side in (one.greater, one.than))
        return list(dict.fromkeys(row for side in both for row in side.rows))


@dataclass(frozen=True)
class Compared:
    """A comparison as it came out: the differences of the seeds, their mean, and p of the paired test."""

    comparison: Comparison
    greater: float | None
    than: float | None
    differences: tuple[float, ...]
    p: float | None
    judgement: Judgement


@dataclass(frozen=True)
class Judged:
    """A claim as it came out, with the untuned figure beside it and what else is to be said."""

    claim: Claim
    compared: tuple[Compared, ...]
    untuned: float | None
    remarks: tuple[str, ...]

    @property
    def judgement(self) -> Judgement:
        """It holds if all comparisons do, and fails if any does."""
        found = [one.judgement for one in self.compared]
        for worst in (FAILS, UNKNOWN, NOISE):
            if worst in found:
                return worst
        return HOLDS


@cache
def claims() -> tuple[Claim, ...]:
    """All claims, in the order of the papers."""
    found = []
    for paper in PAPERS:
        text = (FOLDER / f"{paper}{SUFFIX}").read_text(encoding="utf-8")
        found += [Claim(paper=paper, **one) for one in parse(text, paper)["claims"]]
    return tuple(found)


def judge(claim: Claim, found: Reproduction) -> Judged:
    """A claim by what was measured."""
    column = claim.column or found.table.columns[-1].name
    rows = {one.row.full_name: one for one in found.rows}
    beside = {one.row.name: one for one in found.untuned}
    compared = tuple(_compare(one, column, rows, beside, found.setting.seeds) for one in claim.comparisons)
    named = [rows[name] for name in claim.rows if name in rows]
    untuned = next((beside[one.untuned].value(column) for one in named if one.untuned in beside), None)
    return Judged(claim, compared, untuned.value if untuned else None, tuple(_remarks(named, found, column)))


def _compare(
    comparison: Comparison,
    column: str,
    rows: Mapping[str, MeasuredRow],
    beside: Mapping[str, MeasuredRow],
    seeds: int,
) -> Compared:
    named = (*comparison.greater.rows, *comparison.than.rows)
    first = rows.get(named[0])
    untuned = beside.get(first.untuned) if first else None
    greater, than = (_seeds(side, column, rows, untuned) for side in (comparison.greater, comparison.than))
    count = max(len(greater), len(than))
    greater, than = (side * count if len(side) == 1 else side for side in (greater, than))  # no seeds: the same for all
    if not greater or len(greater) != len(than):
        return Compared(comparison, None, None, (), None, UNKNOWN)
    differences = tuple(a - b for a, b in zip(greater, than, strict=True))
    margins = [one - comparison.by for one in differences]
    by_chance = count > 1 or seeds == 1  # else nothing in the rows is drawn: every seed would give the same
    p = paired_p(margins if by_chance else margins * seeds)
    sure = p is not None and p < SURE
    judgement = (HOLDS if mean(margins) > 0 else FAILS) if sure else NOISE
    return Compared(comparison, mean(greater), mean(than), differences, p, judgement)


def paired_p(differences: Sequence[float]) -> float | None:
    """p of the paired t-test, two-sided: whether the mean is other than 0; None for less than two seeds."""
    from scipy.stats import ttest_1samp

    if len(differences) < 2:
        return None
    if max(differences) == min(differences):  # no spread at all
        return 1.0 if differences[0] == 0 else 0.0
    return float(ttest_1samp(differences, 0.0).pvalue)


def _seeds(side: Quantity, column: str, rows: Mapping[str, MeasuredRow], untuned: MeasuredRow | None) -> list[float]:
    """The figure of each seed; of rows that have none (untuned, whitening ...) the same for all."""
    wanted = [untuned] if side.untuned else [rows.get(name) for name in side.rows]
    if any(one is None or not one.seeds or len(one.seeds) < one.wanted for one in wanted):
        return []
    several = [[seed[column] for seed in one.seeds] for one in wanted if one]
    count = max(map(len, several))
    spread = [values * count if len(values) == 1 else values for values in several]
    return [REDUCTIONS[side.of](values) for values in zip(*spread, strict=True)]


def _remarks(rows: Sequence[MeasuredRow], found: Reproduction, column: str) -> Iterator[str]:
    """What makes an ordering worth less."""
    tuned = [one for one in rows if one.untuned and one.seeds]
    if tuned and all(found.is_below_untuned(one, column) for one in tuned):
        yield "all rows are below the untuned encoder: their order shows how much harm each one does"
    rising = [one.row.full_name for one in tuned if one.rising > len(one.seeds) / 2]
    if rising:
        yield f"still improving when it ended, so perhaps too short: {', '.join(rising)}"
    missing = [
        f"{one.row.full_name} ({one.problem or 'not done'})" for one in rows if len(one.seeds) < max(one.wanted, 1)
    ]
    if missing:
        yield f"not measured: {', '.join(missing)}"
