"""Pairs of other columns beside those that a stage reads: `views.also`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, groupby

from isotrope.io.errors import IsotropeError
from isotrope.recipes.schema import Stage
from isotrope.text.files import Row
from isotrope.text.sources import Source, matching_rows


def with_further_pairs(sources: Sequence[Source], stage: Stage, column: str | None) -> list[Source]:
    """The sources, and behind them, under the stage's own names, the pairs of `views.also` that they hold.

    A pair of equal texts is left out. A table that has a row for each translation of a sentence repeats the sentence's
    other columns: what comes again and again without a break counts once.
    """
    if not stage.views.also:
        return list(sources)
    next(matching_rows(sources, stage.columns, column))  # what the stage can't do without must be there, or it says so
    pairs = chain.from_iterable(_pairs(source, columns) for columns in stage.views.also for source in sources)
    rows: Iterator[Row] = (dict(zip(stage.columns, pair, strict=True)) for pair in pairs)
    first = next(rows, None)
    return [*sources, chain([first], rows)] if first is not None else list(sources)


def _pairs(source: Source, columns: tuple[str, str]) -> Iterator[tuple[str, str]]:
    try:
        _, rows = next(matching_rows([source], columns))
    except IsotropeError:  # it lacks them; what else may be wrong with it is found when it is read for its own columns
        return
    for (one, other), _ in groupby((row[columns[0]], row[columns[1]]) for row in rows):
        if str(one).strip() != str(other).strip():
            yield one, other
