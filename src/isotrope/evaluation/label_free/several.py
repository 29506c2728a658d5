"""Several encoders compared with one, without labels: a leaderboard."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.table import Table

from isotrope.evaluation.label_free.comparing import compare
from isotrope.evaluation.label_free.comparison import BLIND, Comparison
from isotrope.evaluation.models import Model, check_models
from isotrope.evaluation.results.printing import Printable, many
from isotrope.io.errors import IsotropeError
from isotrope.text.sources import Source, as_sources

EXPLAINED = """\
Figures are changes, with their 95% intervals in brackets. Cohesion: share of neighbours that near texts have in common.
MRR x 100: how high a text ranks for its other half. Neighbours kept: of each text's ten nearest."""
BEST_FIRST = ("better", "no clear difference", "worse")


def compare_all(before: Model, others: Sequence[Model], text: Source, **options: Any) -> Comparisons:
    """Compares each of several encoders with one on a text, without labels.

    Args:
        before: What the others are compared with: a name, a model folder, the folder of a run, an encoder.
        others: Several of the same.
        text: A file, or sentences in memory.
        options: As of `isotrope.compare`.

    Returns:
        The comparisons, best first.

    >>> from isotrope.text import bundled_sentences
    >>> import isotrope
    >>> others = [isotrope.load("bundled", pooling=pooling) for pooling in ("max@0", "mean")]
    >>> [one.judgement for one in compare_all("bundled", others, bundled_sentences(), sentences=100).comparisons]
    ['no clear difference', 'worse']
    """
    if not others:
        raise IsotropeError("no model was given to compare with")
    check_models([before, *others])
    given = text if isinstance(text, str | Path) or len(as_sources(text)) != 1 else as_sources(text)[0]  # read again
    found = [compare(before, other, given, **options) for other in others]
    return Comparisons(tuple(sorted(found, key=_place)))


@dataclass(frozen=True, repr=False)
class Comparisons(Printable):
    """Several comparisons with the same encoder, best first: by the judgement, then by how well texts of one kind are
    kept together, then by how well a text is told apart.
    """

    comparisons: tuple[Comparison, ...]

    def parts(self) -> Iterator[Table | str]:
        """A table, a row for each encoder."""
        first = self.comparisons[0]
        title = f"Compared with {first.names[0]}, on {many(first.sentences, 'sentence')} from {first.text}"
        table = Table("Model", "Judgement", title=escape(title), title_justify="left")
        for heading in ("Cohesion, points", "Told apart, MRR x 100", "Neighbours kept, %"):
            table.add_column(heading, justify="right")
        for one in self.comparisons:
            table.add_row(escape(one.names[1]), one.judgement, *_cells(one))
        yield table
        yield f"\n{EXPLAINED}\n\n{BLIND}"

    def as_dict(self) -> dict[str, Any]:
        """`{"comparisons": [...]}`, each as of `compare`."""
        return {"comparisons": [one.as_dict() for one in self.comparisons]}


def _cells(one: Comparison) -> tuple[str, str, str]:
    kept = one.together
    cohesion = f"{kept.cohesion.change:+.1f} [{kept.cohesion.low:+.1f}, {kept.cohesion.high:+.1f}]" if kept else "-"
    told = "\n".join(f"{mrr.change:+.1f} [{mrr.low:+.1f}, {mrr.high:+.1f}]" for mrr in one.differences.values())
    return escape(cohesion), escape(told or "-"), f"{kept.kept:.0f}" if kept else "-"


def _place(one: Comparison) -> tuple[int, float, float]:
    told = [mrr.change for mrr in one.differences.values()]
    return BEST_FIRST.index(one.judgement), -(one.together.cohesion.change if one.together else 0), -sum(told)
