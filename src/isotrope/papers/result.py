"""What `reproduce` and `sweep` found: a table with what is published beside what is measured."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from rich.markup import escape
from rich.table import Table

from isotrope.evaluation.results.printing import Printable, many
from isotrope.io.durations import rough_duration
from isotrope.papers.points import Points
from isotrope.papers.published import Budget, Column, Published, Row, Value

PUBLISHED, MEASURED, DIFFERENCE = "published", "measured", "difference"
Line = tuple[str, str, list[str]]  # name of a row, what the line has of it, a cell for each column


@dataclass(frozen=True)
class Setting:
    """How the rows were run."""

    model: str | None = None
    seeds: int = 1
    budget: Budget = "full"
    text: str | None = None
    texts: int | None = None  # only so many of them
    teacher: str | None = None
    stand_ins: dict[str, str] = field(default_factory=dict)  # other encoders of the paper -> those in their place
    set: dict[str, Any] = field(default_factory=dict)

    def words(self, table: Published) -> str:
        """In a line, for the head of the table."""
        said = [f"model {self.model or table.model}", many(self.seeds, "seed"), f"budget {self.budget}"]
        said += [f"text {self.text or table.text}"]
        said += [f"{self.texts:,} of them"] if self.texts else []
        said += [f"teacher {self.teacher}"] if self.teacher else []
        said += [f"{model} in place of {paper}'s" for paper, model in self.stand_ins.items()]
        return ", ".join([*said, *(f"{key}={value}" for key, value in self.set.items())])


@dataclass(frozen=True)
class MeasuredRow:
    """A row: the figures of every seed by column, how many seeds were wanted, and why there are fewer.

    `untuned` names the row of the encoder as it was; of each seed, `paths` are the evaluations during training, and
    `points` what a picture of single pairs shows.
    """

    row: Row
    seeds: tuple[dict[str, float], ...]
    wanted: int
    problem: str = ""
    untuned: str = ""
    paths: tuple[tuple[dict[str, Any], ...], ...] = ()
    points: tuple[Points, ...] = ()

    def value(self, column: str) -> Value | None:
        """Mean and standard deviation over the seeds."""
        found = [one[column] for one in self.seeds if column in one]
        return Value(mean(found), stdev(found) if len(found) > 1 else None) if found else None

    @property
    def rising(self) -> int:
        """Runs whose last evaluation was their best: they may not have been long enough."""
        scores = [
            [line["eval_spearman"] for line in path if line.get("eval_spearman") is not None] for path in self.paths
        ]
        return sum(len(one) > 1 and one[-1] >= max(one) for one in scores)


@dataclass(frozen=True, repr=False)
class Reproduction(Printable):
    """A table, published beside measured. `print` shows it; `markdown`, `html`, `json` and `plot` export it.

    `rows` are those of the table, `untuned` the encoder as it was under each pooling; `seconds`, of a dry run, is how
    long the rest will take.
    """

    table: Published
    setting: Setting
    rows: tuple[MeasuredRow, ...]
    untuned: tuple[MeasuredRow, ...]
    absent: tuple[str, ...] = ()  # columns without data
    seconds: float | None = None
    partial: bool = False  # whether averages are of fewer columns than the paper's
    remarks: tuple[str, ...] = ()  # on the texts

    @property
    def title(self) -> str:
        """What stands above the table."""
        source = f" ({self.table.paper})" if self.table.paper else ""
        return f"{self.table.label}{source}: {self.table.caption} {self.table.metric}."

    def published(self, row: Row, column: Column) -> Value | None:
        """What is printed; an average, where columns could not be measured, is that of the others if they are known."""
        known = self._parts(row)
        if column.average and self.absent and known:
            return Value(mean(known))
        return self.table.value(row, column)

    def is_comparable(self, row: Row, column: Column) -> bool:
        """Whether what is printed was measured on the same: not so an average of more sets than are here."""
        return not (column.average and self.partial) or bool(self._parts(row))

    def _parts(self, row: Row) -> list[float]:
        """The printed values of the columns that were measured; none if one of them is blank."""
        measured = [one for one in self.table.columns if not one.average and one.name not in self.absent]
        values = [self.table.value(row, one) for one in measured]
        known = [value.value for value in values if value]
        return known if len(known) == len(values) else []

    def lines(self) -> Iterator[Line]:
        """Published, measured and difference of each row; those that have nothing to say are left out."""
        for one in (*self.untuned, *self.rows):
            printed = [self.published(one.row, column) for column in self.table.columns]
            found = [one.value(column.name) for column in self.table.columns]
            comparable = [self.is_comparable(one.row, column) for column in self.table.columns]
            changes = [
                f"{b.value - a.value:+.2f}" if a and b and same else ""
                for a, b, same in zip(printed, found, comparable, strict=True)
            ]
            named = one.row.full_name
            for what, cells in (
                (PUBLISHED, [_shown(value) for value in printed]),
                (MEASURED, [_shown(value) for value in found]),
                (DIFFERENCE, changes),
            ):
                if any(cells):
                    yield named, what, cells

    def notes(self) -> Iterator[str]:
        """What the table does not say by itself."""
        yield f"Run with {self.setting.words(self.table)}."
        yield from self.remarks
        if self.setting.budget == "quick":
            yield "A quick budget only shows that everything runs; its figures say little about the methods."
        if self.seconds:
            yield f"Left to train: about {rough_duration(self.seconds)}."
        elif self.seconds is not None and not any(one.problem and one.wanted for one in self.rows):
            yield "Everything is trained."
        if self.absent:
            yield f"Not measured, because the data is missing: {', '.join(self.absent)}."
        if self.partial and any(column.average for column in self.table.columns):
            yield (
                "Averages, also the published ones, are over the columns shown; a published average without its parts "
                "is over all the paper's sets, and has no difference."
            )
        yield from self._problems()
        rising = [f"{one.row.full_name} ({one.rising} of {len(one.seeds)})" for one in self.rows if one.rising]
        if rising:
            yield f"Still improving on the development set when it ended, so perhaps too short: {', '.join(rising)}."
        below = [one.row.full_name for one in self.rows if self.is_below_untuned(one)]
        if below:
            yield f"Below the untuned encoder: {', '.join(below)}."
        yield from (
            f"Misprint: {one.row}, {one.column}: {one.note}." for one in self.table.misprints if self._has(one.row)
        )
        if self.table.note:
            yield self.table.note

    def is_below_untuned(self, one: MeasuredRow, column: str | None = None) -> bool:
        """Whether a tuned row lies below the encoder as it was, pooled alike; in the last column by default."""
        name = column or self.table.columns[-1].name
        beside = next((other for other in self.untuned if other.row.name == one.untuned), None)
        before, after = beside.value(name) if beside else None, one.value(name)
        return bool(before and after and after.value < before.value)

    def parts(self) -> Iterator[Table | str]:
        """The table, then the notes."""
        table = Table("Row", "", title=escape(self.title), title_justify="left")
        for column in self.table.columns:
            table.add_column(escape(column.name), justify="right")
        last = ""
        for name, what, cells in self.lines():
            table.add_row(
                *map(escape, (name if name != last else "", what, *cells)), style="bold" if what == MEASURED else ""
            )
            last = name
        yield table
        yield from self.notes()

    def markdown(self) -> str:
        """The table as on GitHub, with the notes below."""
        heads = ["", "", *(column.name for column in self.table.columns)]
        rows = ["| " + " | ".join(heads) + " |", "|---|---|" + "---:|" * len(self.table.columns)]
        last = ""
        for name, what, cells in self.lines():
            rows.append("| " + " | ".join([_cell(name) if name != last else "", what, *cells]) + " |")
            last = name
        notes = "".join(f"- {note}\n" for note in self.notes())
        return f"**{self.title}**\n\n" + "\n".join(rows) + f"\n\n{notes}"

    def as_dict(self) -> dict[str, Any]:
        """Every figure, of every seed too."""
        return {
            "table": self.table.name,
            "label": self.table.label,
            "paper": self.table.paper,
            "setting": asdict(self.setting),
            "rows": [self._row_as_dict(one) for one in (*self.untuned, *self.rows)],
            "absent": list(self.absent),
            "seconds_left": self.seconds,
            "notes": list(self.notes()),
        }

    def html(self, picture: str = "") -> str:
        """One page: the table, the notes, and the picture, if an SVG is given."""
        from isotrope.papers.page import page

        return page(self, picture)

    def plot(self, path: str | Path) -> None:
        """Draws it as the paper's figure does, or as dots; the ending of `path` is the format (.png, .svg, .pdf)."""
        from isotrope.papers.pictures import draw

        draw(self, path)

    def _problems(self) -> Iterator[str]:
        """Each reason once, with the rows that it keeps blank."""
        reasons: dict[str, list[str]] = {}
        for one in (*self.untuned, *self.rows):
            if one.problem:
                pooling = one.row.run.pooling if one.row.run else None
                reason = one.problem.removeprefix(f"pooling '{pooling}': ")
                reasons.setdefault(reason, []).append(one.row.full_name)
            elif len(one.seeds) < one.wanted and self.seconds is None:
                reasons.setdefault("not done", []).append(one.row.full_name)
        yield from (f"Not measured: {', '.join(names)}: {reason}." for reason, names in reasons.items())

    def _has(self, row: str) -> bool:
        return any(one.row.full_name == row for one in self.rows)

    def _row_as_dict(self, one: MeasuredRow) -> dict[str, Any]:
        published = {c.name: self.table.value(one.row, c) for c in self.table.columns}
        return {
            "row": one.row.full_name,
            "published": {name: list(value) for name, value in published.items() if value},
            "measured": {c.name: list(found) for c in self.table.columns if (found := one.value(c.name))},
            "seeds": [
                {name: None if math.isnan(value) else round(value, 4) for name, value in seed.items()}
                for seed in one.seeds
            ],
            "wanted": one.wanted,
            "problem": one.problem,
            "untuned": one.untuned,
            "still_rising": one.rising,
        }


def _shown(value: Value | None) -> str:
    if value is None or math.isnan(value.value):
        return ""
    return f"{value.value:.2f}" if value.spread is None else f"{value.value:.2f} ± {value.spread:.2f}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
