"""Results as tables: on the terminal, as Markdown, LaTeX, CSV or JSON."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.markup import escape
from rich.table import Table

if TYPE_CHECKING:
    from isotrope.evaluation.results.results import Results
    from isotrope.evaluation.results.side_by_side import Cell, Column

ENDINGS = {".json": "json", ".csv": "csv", ".md": "markdown", ".tex": "latex"}
SEEN, UNKNOWN = "†", "?"
LATEX = str.maketrans(
    {**{sign: f"\\{sign}" for sign in "&%$#_{}"}, "\\": r"\textbackslash{}", "~": r"\textasciitilde{}"}
    | {"^": r"\textasciicircum{}", SEEN: r"$^\dagger$", "±": r"$\pm$", UNKNOWN: r"$^?$"}
)


class Block(NamedTuple):
    """Columns that make one table."""

    title: str
    columns: list[Column]

    def head(self, column: Column) -> str:
        """`stsb`, `1.ar-ar`, `Average`; the figure's name where the block holds several figures of one task."""
        if len({one.section.metric for one in self.columns}) > 1:
            return _words(column.section.metric)
        return column.task.partition(":")[2].removeprefix("track") or column.task.replace("average", "Average")


def blocks(columns: Sequence[Column]) -> list[Block]:
    """A table for each section; those of one title that have one column each share one."""
    found: list[Block] = []
    for column in columns:
        if found and found[-1].columns[-1].section == column.section:
            found[-1].columns.append(column)
        elif found and len(column.section.tasks) == 1 and _alone(found[-1], column.section.title):
            found[-1] = Block(f"{column.section.title} {column.section.unit}".strip(), [*found[-1].columns, column])
        else:
            title = ", ".join(filter(None, (column.section.title, _words(column.section.metric))))
            found.append(Block(f"{title} {column.section.unit}".strip(), [column]))
    return found


def _words(metric: str) -> str:
    return metric.replace("_", " ").capitalize()


def _alone(block: Block, title: str) -> bool:
    return bool(title) and all(one.section.title == title and len(one.section.tasks) == 1 for one in block.columns)


def figure(cell: Cell, between: str = " ") -> str:
    """`82.03`, `58.87 ± 0.53`, `81.64 [74.2, 87.1]`, `-`."""
    if math.isnan(cell.value):
        return "-"
    deviation = f" ± {cell.deviation:.2f}" if cell.deviation is not None else ""
    own = f"{between}[{cell.interval.low:.1f}, {cell.interval.high:.1f}]" if cell.interval else ""
    return f"{cell.value:.2f}{deviation}{own}"


def difference(cell: Cell, between: str = " ") -> str:
    """`+26.03 [+24.1, +28.0]`, `-`."""
    if cell.difference is None:
        return "-"
    value, low, high = cell.difference
    return f"{value:+.2f}{between}[{low:+.1f}, {high:+.1f}]"


def differ(results: Results) -> bool:
    """Whether there are differences to show."""
    return any(cell.difference for column in results.columns for cell in column.cells)


def _differences_title(results: Results) -> str:
    first = f"{results.rows[0].name} ({results.rows[0].pooling})"
    return f"Difference from {first}, with the 95% interval of a paired bootstrap over the test items"


# -- on the terminal --------------------------------------------------------------------------------------------------


def rich_tables(results: Results) -> Iterator[Table]:
    """A table for each block, best in bold; then the differences to the first row."""
    for block in blocks(results.columns):
        table = _empty(block, results.items)
        for i, row in enumerate(results.rows):
            bold = ("[bold]" if column.best(i) else "" for column in block.columns)
            cells = (f"{b}{_on_screen(column.cells[i])}" for b, column in zip(bold, block.columns, strict=True))
            table.add_row(escape(row.name) + results.mark(row), row.pooling, *cells)
        yield table
    if not differ(results):
        return
    for block in blocks(results.columns):
        table = _empty(block, {}, f"{_differences_title(results)}\n")
        for i, row in enumerate(results.rows[1:], 1):
            cells = (escape(difference(column.cells[i], "\n")) for column in block.columns)
            table.add_row(escape(row.name) + results.mark(row), row.pooling, *cells)
        yield table


def _on_screen(cell: Cell) -> str:
    return escape(figure(cell, "\n"))


def _empty(block: Block, items: dict[str, str], before: str = "") -> Table:
    table = Table("Model", "Pooling", title=escape(before + block.title), title_justify="left")
    for column in block.columns:
        below = f"\n[dim]{items[column.task]}[/]" if column.task in items else ""
        table.add_column(escape(block.head(column)) + below, justify="right")
    return table


# -- as text ----------------------------------------------------------------------------------------------------------


def markdown(results: Results) -> str:
    """Tables as GitHub has them, with the notes below."""
    lines: list[str] = []
    for block in blocks(results.columns):
        heads = ["Model", "Pooling", *(block.head(column) for column in block.columns)]
        lines += [f"**{block.title}**", "", _line(heads), _line(["---", "---", *("---:" for _ in block.columns)])]
        for i, row in enumerate(results.rows):
            cells = [_bold("**{}**", column, i) for column in block.columns]
            lines.append(_line([row.name + results.mark(row), row.pooling, *cells]))
        lines.append("")
        if differ(results):
            lines += [f"{_differences_title(results)}:", "", _line(heads), _line(["---"] * len(heads))]
            for i, row in enumerate(results.rows[1:], 1):
                cells = [difference(column.cells[i]) for column in block.columns]
                lines.append(_line([row.name + results.mark(row), row.pooling, *cells]))
            lines.append("")
    lines += [f"{note}  " for note in results.notes()]  # two spaces end a line
    return "\n".join(lines).rstrip() + "\n"


def latex(results: Results) -> str:
    """Tables that need booktabs; the notes are comments."""
    lines: list[str] = []
    for block in blocks(results.columns):
        heads = ["Model", "Pooling", *(block.head(column) for column in block.columns)]
        lines += [f"% {block.title}", rf"\begin{{tabular}}{{ll{'r' * len(block.columns)}}}", r"\toprule"]
        lines += [_tex(heads), r"\midrule"]
        for i, row in enumerate(results.rows):
            cells = [_bold(r"\textbf{{{}}}", column, i).replace("±", r"$\pm$") for column in block.columns]
            lines.append(_tex([row.name + results.mark(row), row.pooling], cells))
        lines += [r"\bottomrule", r"\end{tabular}", ""]
    lines += [f"% {note}" for note in results.notes()]
    return "\n".join(lines).rstrip() + "\n"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _tex(words: Sequence[str], cells: Sequence[str] = ()) -> str:
    return " & ".join([*(word.translate(LATEX) for word in words), *cells]) + r" \\"


def _bold(template: str, column: Column, row: int) -> str:
    text = figure(column.cells[row])
    return template.format(text) if column.best(row) else text


# -- for programs -----------------------------------------------------------------------------------------------------


def records(results: Results) -> list[dict[str, Any]]:
    """Every figure with all that belongs to it: a row of the CSV, an entry of the JSON."""
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
            **dict(zip(("figure_low", "figure_high"), _two(column.cells[i]), strict=True)),
        }
        for column in results.columns
        for i, row in enumerate(results.rows)
    ]


def as_csv(results: Results) -> str:
    """One figure a line."""
    lines, text = records(results), io.StringIO()
    writer = csv.DictWriter(text, list(lines[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    return text.getvalue()


def as_json(results: Results) -> dict[str, Any]:
    """The figures, and all that was measured of each encoder."""
    encoders = [
        {
            "row": row.name,
            "model": member.model,
            "pooling": row.pooling,
            "tasks": {task: outcome.as_json for task, outcome in member.outcomes.items()},
            "problems": member.problems,
            "seen": member.trained_on,
        }
        for row in results.rows
        for member in row.members
    ]
    return {
        "figures": records(results),
        "encoders": encoders,
        "sentences": results.sentences,
        "absent": list(results.absent),
    }


def _three(cell: Cell) -> list[float | None]:
    return [_rounded(value) for value in cell.difference or (None, None, None)]


def _two(cell: Cell) -> list[float | None]:
    return [_rounded(value) for value in cell.interval or (None, None)]


def _rounded(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else round(value, 2)
