"""`check_claims`: runs what the papers' claims speak of, and judges them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

from rich.markup import escape
from rich.table import Table

from isotrope.evaluation.results.printing import Printable, many
from isotrope.io.errors import IsotropeError, nearest
from isotrope.papers.claims import FAILS, HOLDS, NOISE, SURE, Judged, claims, judge
from isotrope.papers.published import PAPERS, Budget, published
from isotrope.papers.reproduction import OUTPUT, reproduce


def check_claims(
    *,
    paper: str | None = None,
    model: str = "bundled",
    seeds: int = 3,
    budget: Budget = "full",
    columns: Sequence[str] = (),
    text: str | Path | None = None,
    texts: int | None = None,
    teacher: str | Path | None = None,
    stand_ins: Mapping[str, str | Path] | None = None,
    set: Mapping[str, Any] | None = None,  # noqa: A002
    data: str | Path | None = None,
    output: str | Path = OUTPUT,
) -> Claims:
    """Runs what the papers' claims speak of, and says of each whether it holds, fails, or is lost in noise.

    Args:
        paper: `sg-opt`, `consert`, `bsl` or `parallel`; by default all.
        model: stands in for the papers' main encoders.
        seeds: runs of each row; two at least, for a paired test.
        budget: `full` for the recipes' own steps, `quick` for a few.
        columns: only those tasks of the tables, to save time; averages are theirs.
        text: what is learnt from, in place of the tables' texts.
        texts: only so many of them, drawn at random; rows that say how many keep their number.
        teacher: the guide's model, for recipes whose guide is another encoder.
        stand_ins: models in place of the papers' other encoders: `{"xlm-roberta-base": "bundled"}`.
        set: fields of all recipes by their dotted path.
        data: folder of data sets; by default `$ISOTROPE_DATA`, else the Hub.
        output: the folder of all runs, which `reproduce` shares.

    Example: `check_claims(paper="sg-opt", model="bundled", data="data")`
    """
    wanted = [claim for claim in claims() if paper in (None, claim.paper)]
    if not wanted:
        raise IsotropeError(f"unknown paper '{paper}'{nearest(str(paper), PAPERS)}; one of {', '.join(PAPERS)}")
    options = {"model": model, "seeds": seeds, "budget": budget, "text": text, "texts": texts, "set": set}
    options |= {"teacher": teacher}
    judged = []
    for claim in wanted:
        names = [column.name for column in published(claim.table).columns]
        some = [name for name in names if name in columns or name == (claim.column or names[-1])] if columns else ()
        others = {name: one for name, one in (stand_ins or {}).items() if name in published(claim.table).other_models}
        found = reproduce(
            claim.table,
            rows=claim.rows,
            columns=some,
            stand_ins=others,
            data=data,
            output=output,
            **options,  # type: ignore[arg-type]
        )
        judged.append(judge(claim, found))
    return Claims(tuple(judged), f"Claims, by {model}, {many(seeds, 'seed')}, budget {budget}")


@dataclass(frozen=True, repr=False)
class Claims(Printable):
    """The claims of the papers, each with its judgement. `print` shows them; `markdown` and `json` export them."""

    judged: tuple[Judged, ...]
    how: str

    def parts(self) -> Iterator[Table | str]:
        """A table, then the remarks."""
        table = Table("Claim", "", "Greater", "Than", "Difference", "p", "Untuned", title=escape(self.how))
        for one in self.judged:
            for number, cells in enumerate(_lines(one)):
                table.add_row(*map(escape, cells), style="bold" if not number else "")
        yield table
        yield from self.notes()

    def notes(self) -> Iterator[str]:
        """What the table does not say."""
        yield f"{HOLDS} / {FAILS}: p < {SURE} in a paired t-test over the seeds; {NOISE}: the seeds can't tell."
        for one in self.judged:
            yield from (f"{one.claim.says}: {remark}" for remark in one.remarks)

    def markdown(self) -> str:
        """As on GitHub."""
        rows = ["| claim | | greater | than | difference | p | untuned |", "|---|---|---|---|---:|---:|---:|"]
        rows += ["| " + " | ".join(cells) + " |" for one in self.judged for cells in _lines(one)]
        return f"**{self.how}**\n\n" + "\n".join(rows) + "\n\n" + "".join(f"- {note}\n" for note in self.notes())

    def as_dict(self) -> dict[str, Any]:
        """Every comparison with the differences of its seeds."""
        return {"how": self.how, "claims": [_as_dict(one) for one in self.judged]}


def _lines(one: Judged) -> Iterator[tuple[str, ...]]:
    untuned = "" if one.untuned is None else f"{one.untuned:.2f}"
    yield f"{one.claim.paper}, {one.claim.where}: {one.claim.says}", one.judgement, "", "", "", "", untuned
    for compared in one.compared:
        sides = compared.comparison
        first, second = (
            side.words() if value is None else f"{side.words()}: {value:.2f}"
            for side, value in ((sides.greater, compared.greater), (sides.than, compared.than))
        )
        by = f" (by {sides.by:+g})" if sides.by else ""
        difference = f"{mean(compared.differences):+.2f}" if compared.differences else ""
        p = "" if compared.p is None else f"{compared.p:.3f}"
        yield "", compared.judgement, first, second + by, difference, p, ""


def _as_dict(one: Judged) -> dict[str, Any]:
    return {
        "paper": one.claim.paper,
        "says": one.claim.says,
        "where": one.claim.where,
        "table": one.claim.table,
        "judgement": one.judgement,
        "untuned": one.untuned,
        "remarks": list(one.remarks),
        "comparisons": [
            {
                "greater": compared.comparison.greater.words(),
                "than": compared.comparison.than.words(),
                "by": compared.comparison.by,
                "differences": [round(value, 4) for value in compared.differences],
                "p": compared.p,
                "judgement": compared.judgement,
            }
            for compared in one.compared
        ],
    }
