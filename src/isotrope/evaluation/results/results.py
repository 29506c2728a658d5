"""The results of `evaluate`: a row per encoder, a column per task."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import mean
from typing import Any

from rich.table import Table

from isotrope.evaluation.results import tables
from isotrope.evaluation.results.listings import Listing
from isotrope.evaluation.results.printing import Printable
from isotrope.evaluation.results.side_by_side import Column, Measured, Row
from isotrope.io.errors import IsotropeError


@dataclass(frozen=True, repr=False)
class Results(Printable):
    """Encoders side by side. `print` shows the tables; `to_pandas`, `markdown`, `latex`, `csv` and `json` export them.

    `rows` and `columns` are the table: `columns[j].cells[i]` is the figure of `rows[i]`, with its deviation over seeds
    and, in a suite, its difference to the first row with a 95% interval. `mark(row)` says whether the encoder was
    trained on test sentences, `notes()` what else is to be said.
    """

    rows: Sequence[Row]
    columns: Sequence[Column]
    items: dict[str, str]  # what each task tests on
    sentences: dict[str, int] = field(default_factory=dict)  # distinct ones of each task
    absent: Sequence[str] = ()  # tasks of the suite whose data is missing
    suite: str | None = None
    remarks: Sequence[str] = ()  # further notes
    listed: Sequence[str] = ()  # tasks whose worst items are shown

    def mark(self, row: Row) -> str:
        """In a suite, ` †` if the row has met test sentences in training, ` ?` if that is unknown."""
        if not self.suite:
            return ""
        if any(member.trained_on and any(member.trained_on.values()) for member in row.members):
            return f" {tables.SEEN}"
        return f" {tables.UNKNOWN}" if any(member.trained_on is None for member in row.members) else ""

    def notes(self) -> Iterator[str]:
        """What the tables do not say by themselves."""
        for row in self.rows:
            if len(row.members) > 1:
                seeds = ", ".join(member.model for member in row.members)
                yield f"{row.name}: mean ± standard deviation of {len(row.members)} seeds ({seeds})"
        marks = {self.mark(row).strip() for row in self.rows}
        if tables.SEEN in marks:
            yield f"{tables.SEEN} trained on text that contains test sentences, without their labels, as in the papers:"
            yield from (f"  {row.name}: {self._share(row)}" for row in self.rows if tables.SEEN in self.mark(row))
        if tables.UNKNOWN in marks:
            yield f"{tables.UNKNOWN} unknown whether its training text contains test sentences: no run folder"
        for row in self.rows:
            problems = {task: why for member in row.members for task, why in member.problems.items()}
            yield from (f"- {row.name}: {task}: {why}" for task, why in problems.items())
        yield from self.remarks
        if self.absent:
            yield f"Not measured, because the data is missing: {', '.join(self.absent)}"

    def parts(self) -> Iterator[Table | str]:
        """The tables, then the notes."""
        yield from tables.rich_tables(self)
        yield from (listing.as_table(f"{task}, {row}") for row, task, listing in self.listings())
        yield from self.notes()

    def listings(self) -> Iterator[tuple[str, str, Listing]]:
        """Of each row and each task of one's own: what the encoder does worst on."""
        for row in self.rows:
            for member in row.members:
                for task in filter(member.outcomes.__contains__, self.listed):
                    yield from ((member.model, task, one) for one in member.outcomes[task].listings)

    def markdown(self) -> str:
        """Tables as on GitHub, with the notes below."""
        return tables.markdown(self)

    def latex(self) -> str:
        """Tables that need booktabs, with the notes as comments."""
        return tables.latex(self)

    def csv(self) -> str:
        """One figure per line."""
        return tables.as_csv(self)

    def as_dict(self) -> dict[str, Any]:
        """In a suite, every figure with its interval, and all that was measured; else an entry for each encoder, and
        for tables of one's own both, and what each encoder does worst on.
        """
        if self.suite:
            return tables.as_json(self)
        entries = {"results": list(self._entries())}
        return entries | {"figures": self.records()} if self.listed else entries

    def records(self) -> list[dict[str, Any]]:
        """Every figure with its model, pooling, task, metric, deviation and interval, as a list of dictionaries."""
        return tables.records(self)

    def to_pandas(self) -> Any:
        """`records` as a `pandas.DataFrame`, a row for each figure."""
        try:
            import pandas
        except ImportError as error:
            raise IsotropeError("to_pandas needs pandas: pip install pandas") from error
        return pandas.DataFrame(self.records())

    def _entries(self) -> Iterator[dict[str, Any]]:
        """One for each encoder under each pooling; an average where all tasks have the same metric."""
        averaged = len({column.section.metric for column in self.columns}) == 1
        for row in self.rows:
            for member in row.members:
                figures = [outcome.main.value for outcome in member.outcomes.values()]
                yield {
                    "model": member.model,
                    "pooling": row.pooling,
                    "tasks": {task: outcome.as_json for task, outcome in member.outcomes.items()},
                    "average": round(mean(figures), 2) if averaged else None,
                    **self._worst(member),
                }

    def _worst(self, member: Measured) -> dict[str, Any]:
        listed = {task: member.outcomes[task].listings for task in self.listed if task in member.outcomes}
        return {"worst": {task: [one.as_dict() for one in some] for task, some in listed.items()}} if listed else {}

    def _share(self, row: Row) -> str:
        """`stsb 2,552 of 2,552, sts12 34 of 4,935`."""
        most = {task: max((member.trained_on or {}).get(task, 0) for member in row.members) for task in self.sentences}
        return ", ".join(f"{task} {n:,} of {self.sentences[task]:,}" for task, n in most.items() if n)
