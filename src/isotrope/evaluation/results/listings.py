"""What to read beside a figure: the classes and pairs that an encoder does worst on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.markup import escape
from rich.table import Table
from scipy.stats import rankdata

from isotrope.evaluation.data.pairs import Pairs
from isotrope.io.errors import one_line

Floats = NDArray[np.float64]
MOST = 100  # rows that are kept
SHOWN = 5  # rows that are printed
WIDEST = 60  # characters of a text that are printed


@dataclass(frozen=True)
class Listing:
    """A small table, the worst first."""

    title: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[Any, ...]]

    def as_table(self, title: str, shown: int = SHOWN) -> Table:
        """For the terminal: the first rows, texts in one short line."""
        more = f" ({shown} of {len(self.rows):,})" if len(self.rows) > shown else ""
        table = Table(*self.columns, title=escape(f"{title}: {self.title}{more}"), title_justify="left")
        for row in self.rows[:shown]:
            table.add_row(*(escape(one_line(str(cell), WIDEST)) for cell in row))
        return table

    def as_dict(self) -> dict[str, Any]:
        """`{"title": ..., "rows": [{column: value}]}`."""
        return {"title": self.title, "rows": [dict(zip(self.columns, row, strict=True)) for row in self.rows]}


def worst_pairs(pairs: Pairs, similarities: Floats) -> Listing:
    """Those whose place by cosine is furthest from the places that pairs of their score share."""
    place, lowest, highest = rankdata(similarities), *(rankdata(pairs.scores, method) for method in ("min", "max"))
    apart = np.maximum(place - highest, lowest - place)
    order = [i for i in np.argsort(-apart, kind="stable")[:MOST] if apart[i] > 0]
    rows = [
        (round(float(similarities[i]), 3), pairs.scores[i], pairs.sentences1[i], pairs.sentences2[i]) for i in order
    ]
    return Listing("worst-ranked pairs", ("cosine", "score", "sentence1", "sentence2"), rows)


def of_each_class(precisions: Mapping[str, Floats]) -> Listing:
    """The mean average precision of each class, from those of its texts."""
    means = {name: round(100 * float(found.mean()), 2) for name, found in precisions.items()}
    rows = sorted(((name, mean, len(precisions[name])) for name, mean in means.items()), key=lambda row: row[1])
    return Listing("classes, the hardest first", ("class", "mean average precision", "texts"), rows)
