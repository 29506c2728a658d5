"""A comparison of encoders as people want it: on the terminal, as Markdown, LaTeX, CSV or JSON."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.markup import escape
from rich.table import Table

if TYPE_CHECKING:
    from isotrope.evaluation.comparison import Cell, Column, Row

ENDINGS = {".json": "json", ".csv": "csv", ".md": "markdown", ".tex": "latex"}
SEEN, UNKNOWN = "†", "?"
LATEX = str.maketrans(
    {**{sign: f"\\{sign}" for sign in "&%$#_{}"}, "\\": r"\textbackslash{}", "~": r"\textasciitilde{}"}
    | {"^": r"\textasciicircum{}", SEEN: r"$^\dagger$", "±": r"$\pm$", UNKNOWN: r"$^?$"}
)


@dataclass(frozen=True)
class Report:
    """All that is to be shown. `items` is what each task tests on."""

    rows: Sequence[Row]
    columns: Sequence[Column]
    items: dict[str, str]
    sentences: dict[str, int] = field(default_factory=dict)  # distinct ones of each task
    absent: Sequence[str] = ()
    marked: bool = False  # whether it is said which encoder has seen which test sentences
    remarks: Sequence[str] = ()  # further notes

    def mark(self, row: Row) -> str:
        """Behind the row's name: has it seen test sentences in training, or does nobody know?"""
        if not self.marked:
            return ""
        if any(member.seen and any(member.seen.values()) for member in row.members):
            return f" {SEEN}"
        return f" {UNKNOWN}" if any(member.seen is None for member in row.members) else ""

    def notes(self) -> Iterator[str]:
        """What the tables do not say by themselves."""
        for row in self.rows:
            if len(row.members) > 1:
                seeds = ", ".join(member.model for member in row.members)
                yield f"{row.name}: mean ± standard deviation of {len(row.members)} seeds ({seeds})"
        marks = {self.mark(row).strip() for row in self.rows}
        if SEEN in marks:
            yield f"{SEEN} trained on text that holds test sentences, without their labels, as the papers do:"
            yield from (f"  {row.name}: {self._share(row)}" for row in self.rows if SEEN in self.mark(row))
        if UNKNOWN in marks:
            yield f"{UNKNOWN} unknown whether it was trained on text that holds test sentences: no run made it"
        for row in self.rows:
            problems = {task: why for member in row.members for task, why in member.problems.items()}
            yield from (f"- {row.name}: {task}: {why}" for task, why in problems.items())
        yield from self.remarks
        if self.absent:
            yield f"Absent, so not measured: {', '.join(self.absent)}"

    def _share(self, row: Row) -> str:
        """`stsb 2,552 of 2,552 sentences, sts12 34 of 4,935`."""
        most = {task: max((member.seen or {}).get(task, 0) for member in row.members) for task in self.sentences}
        return ", ".join(f"{task} {n:,} of {self.sentences[task]:,}" for task, n in most.items() if n)


class Block(NamedTuple):
    """Columns that make one table."""

    title: str
    columns: list[Column]

    def head(self, column: Column) -> str:
        """`stsb`, `1.ar-ar`, `Average`; the figure's name where the block holds several figures of one task."""
        if len({one.section.metric for one in self.columns}) > 1:
            return column.section.metric.capitalize()
        return column.task.partition(":")[2].removeprefix("track") or column.task.replace("average", "Average")


def blocks(columns: Sequence[Column]) -> list[Block]:
    """A table for each section; those of one title that have one column each share one."""
    found: list[Block] = []
    for column in columns:
        if found and found[-1].columns[-1].section == column.section:
            found[-1].columns.append(column)
        elif found and len(column.section.tasks) == 1 and _alone(found[-1], column.section.title):
            found[-1] = Block(f"{column.section.title} x 100", [*found[-1].columns, column])
        else:
            title = ", ".join(filter(None, (column.section.title, column.section.metric.capitalize())))
            found.append(Block(f"{title} x 100", [column]))
    return found


def _alone(block: Block, title: str) -> bool:
    return bool(title) and all(one.section.title == title and len(one.section.tasks) == 1 for one in block.columns)


def figure(cell: Cell) -> str:
    """`82.03`, `58.87 ± 0.53`, `-`."""
    if math.isnan(cell.value):
        return "-"
    return f"{cell.value:.2f}" + (f" ± {cell.deviation:.2f}" if cell.deviation is not None else "")


def difference(cell: Cell, between: str = " ") -> str:
    """`+26.03 [+24.1, +28.0]`, `-`."""
    if cell.difference is None:
        return "-"
    value, low, high = cell.difference
    return f"{value:+.2f}{between}[{low:+.1f}, {high:+.1f}]"


def differ(report: Report) -> bool:
    """Whether there are differences to show."""
    return any(cell.difference for column in report.columns for cell in column.cells)


def _differences_title(report: Report) -> str:
    first = f"{report.rows[0].name} ({report.rows[0].pooling})"
    return f"Difference to {first}, and the 95% interval of a paired bootstrap over the test items"


# -- on the terminal --------------------------------------------------------------------------------------------------


def rich_tables(report: Report) -> Iterator[Table]:
    """A table for each block, best in bold; then the differences to the first row."""
    for block in blocks(report.columns):
        table = _empty(block, report.items)
        for i, row in enumerate(report.rows):
            bold = ("[bold]" if column.best(i) else "" for column in block.columns)
            cells = (f"{b}{figure(column.cells[i])}" for b, column in zip(bold, block.columns, strict=True))
            table.add_row(escape(row.name) + report.mark(row), row.pooling, *cells)
        yield table
    if not differ(report):
        return
    for block in blocks(report.columns):
        table = _empty(block, {}, f"{_differences_title(report)}\n")
        for i, row in enumerate(report.rows[1:], 1):
            cells = (escape(difference(column.cells[i], "\n")) for column in block.columns)
            table.add_row(escape(row.name) + report.mark(row), row.pooling, *cells)
        yield table


def _empty(block: Block, items: dict[str, str], before: str = "") -> Table:
    table = Table("Model", "Pooling", title=escape(before + block.title), title_justify="left")
    for column in block.columns:
        below = f"\n[dim]{items[column.task]}[/]" if column.task in items else ""
        table.add_column(escape(block.head(column)) + below, justify="right")
    return table


# -- as text ----------------------------------------------------------------------------------------------------------


def markdown(report: Report) -> str:
    """Tables as GitHub has them, with the notes below."""
    lines: list[str] = []
    for block in blocks(report.columns):
        heads = ["Model", "Pooling", *(block.head(column) for column in block.columns)]
        lines += [f"**{block.title}**", "", _line(heads), _line(["---", "---", *("---:" for _ in block.columns)])]
        for i, row in enumerate(report.rows):
            cells = [_bold("**{}**", column, i) for column in block.columns]
            lines.append(_line([row.name + report.mark(row), row.pooling, *cells]))
        lines.append("")
        if differ(report):
            lines += [f"{_differences_title(report)}:", "", _line(heads), _line(["---"] * len(heads))]
            for i, row in enumerate(report.rows[1:], 1):
                cells = [difference(column.cells[i]) for column in block.columns]
                lines.append(_line([row.name + report.mark(row), row.pooling, *cells]))
            lines.append("")
    lines += [f"{note}  " for note in report.notes()]  # two spaces end a line
    return "\n".join(lines).rstrip() + "\n"


def latex(report: Report) -> str:
    """Tables that need booktabs; the notes are comments."""
    lines: list[str] = []
    for block in blocks(report.columns):
        heads = ["Model", "Pooling", *(block.head(column) for column in block.columns)]
        lines += [f"% {block.title}", rf"\begin{{tabular}}{{ll{'r' * len(block.columns)}}}", r"\toprule"]
        lines += [_tex(heads), r"\midrule"]
        for i, row in enumerate(report.rows):
            cells = [_bold(r"\textbf{{{}}}", column, i).replace("±", r"$\pm$") for column in block.columns]
            lines.append(_tex([row.name + report.mark(row), row.pooling], cells))
        lines += [r"\bottomrule", r"\end{tabular}", ""]
    lines += [f"% {note}" for note in report.notes()]
    return "\n".join(lines).rstrip() + "\n"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _tex(words: Sequence[str], cells: Sequence[str] = ()) -> str:
    return " & ".join([*(word.translate(LATEX) for word in words), *cells]) + r" \\"


def _bold(template: str, column: Column, row: int) -> str:
    text = figure(column.cells[row])
    return template.format(text) if column.best(row) else text


# -- for programs -----------------------------------------------------------------------------------------------------


def records(report: Report) -> list[dict[str, Any]]:
    """Every figure with all that belongs to it: a line of the CSV, an entry of the JSON."""
    return [
        {
            "model": row.name,
            "pooling": row.pooling,
            "group": column.section.title,
            "task": column.task,
            "metric": column.section.metric,
            "figure": _rounded(column.cells[i].value),
            "deviation": _rounded(column.cells[i].deviation),
            "seeds": len(row.members),
            **dict(zip(("difference", "low", "high"), _three(column.cells[i]), strict=True)),
        }
        for column in report.columns
        for i, row in enumerate(report.rows)
    ]


def as_csv(report: Report) -> str:
    """One figure a line."""
    lines, text = records(report), io.StringIO()
    writer = csv.DictWriter(text, list(lines[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    return text.getvalue()


def as_json(report: Report) -> dict[str, Any]:
    """The figures, and of each encoder all that was measured."""
    encoders = [
        {
            "row": row.name,
            "model": member.model,
            "pooling": row.pooling,
            "tasks": {task: outcome.as_json for task, outcome in member.outcomes.items()},
            "problems": member.problems,
            "seen": member.seen,
        }
        for row in report.rows
        for member in row.members
    ]
    return {
        "figures": records(report),
        "encoders": encoders,
        "sentences": report.sentences,
        "absent": list(report.absent),
    }


def _three(cell: Cell) -> list[float | None]:
    return [_rounded(value) for value in cell.difference or (None, None, None)]


def _rounded(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else round(value, 2)
