"""The texts that a report shows: some of the run's own, or of a table that is given, with the columns beside them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from isotrope.io.errors import IsotropeError
from isotrope.reporting.runs import RunFacts
from isotrope.text.corpus import open_corpus
from isotrope.text.placeholders import is_placeholder
from isotrope.text.record_batches import batch_texts, record_batches
from isotrope.text.shaping import Shape
from isotrope.text.sources import HUB, Source, source_name, text_columns
from isotrope.training.record import Record

LOOKED_AT = 50_000  # rows of a table that are read
ROWS_AT_ONCE = 2048
FEWEST = 10  # texts, below which there is nothing to see
MOST_VALUES = 10  # of a column that points are coloured by
FOUND = 0.5  # share of the texts that must be found in the table again


@dataclass(frozen=True)
class TextSample:
    """Different texts in random order; `columns` are those of their rows, None where a row lacks one."""

    texts: list[str]
    columns: dict[str, list[Any]] = field(default_factory=dict)
    source: str = ""  # in words
    of: int = 0  # texts that there are

    def first(self, count: int) -> TextSample:
        """Only so many of them."""
        columns = {name: values[:count] for name, values in self.columns.items()}
        return replace(self, texts=self.texts[:count], columns=columns)

    def colours(self) -> dict[str, list[str | None]]:
        """The columns with a few values each, as words: what points of a map can be coloured by."""
        words = {name: [_word(value) for value in values] for name, values in self.columns.items()}
        few = {}
        for name, values in words.items():
            there = [value for value in values if value is not None]
            if 1 < len(set(there)) <= MOST_VALUES and len(there) >= FOUND * len(values):
                few[name] = values
        return few


def sample_of_run(facts: RunFacts, size: int, seed: int) -> TextSample:
    """Texts of the run's last stage, each as likely as any other; columns where the table is still there."""
    corpus = open_corpus(facts.corpora[-1])
    column = text_columns(corpus.columns)[0]
    rows = np.random.default_rng(seed).permutation(len(corpus)) if len(corpus) < 10**7 else _few(len(corpus), seed)
    texts: dict[str, None] = {}
    for start in range(0, len(rows), ROWS_AT_ONCE):
        some = corpus.rows(rows[start : start + ROWS_AT_ONCE].tolist())[column]
        texts.update(dict.fromkeys(text for text in some if not is_placeholder(text)))
        if len(texts) >= size:
            break
    chosen = _enough(list(texts)[:size], str(corpus))
    source = ", ".join(corpus.sources)
    return TextSample(chosen, _columns_of(chosen, facts.record), source, corpus.counts.rows)


def sample_of_table(
    table: Source,
    size: int,
    seed: int,
    *,
    column: str | None = None,
    columns: str | Iterable[str] | None = None,
    join: str | None = None,
    strip_html: bool = False,
) -> TextSample:
    """Texts of the first rows of a table, with its other columns."""
    shape = Shape.of(columns, join, strip_html, column=column)
    chance = np.random.default_rng(seed)
    kept: list[tuple[str, dict[str, Any]]] = []
    seen: set[str] = set()
    for text, row in islice(_rows(table, column, shape), LOOKED_AT):
        if text in seen or is_placeholder(text):
            continue
        seen.add(text)
        place = len(kept) if len(kept) < size else int(chance.integers(len(seen)))
        if place < size:
            kept[place : place + 1] = [(text, row)]
    order = chance.permutation(len(kept))
    texts = _enough([kept[k][0] for k in order], source_name(table))
    names = list(kept[0][1]) if kept else []
    values = {name: [kept[k][1].get(name) for k in order] for name in names}
    return TextSample(texts, values, source_name(table), len(seen))


def _few(count: int, seed: int) -> Any:
    """Some rows of a very large corpus."""
    return np.unique(np.random.default_rng(seed).integers(count, size=10 * LOOKED_AT))


def _columns_of(texts: Sequence[str], record: Record | None) -> dict[str, list[Any]]:
    """The columns beside the texts in the files that the run read: nothing where they are gone, or other than then."""
    if record is None or not record.text:
        return {}
    shape = Shape(tuple(record.text["columns"]), record.text["join"], record.text["strip_html"])
    rows: dict[str, dict[str, Any]] = {}
    wanted = set(texts)
    for file in record.files:
        if file.startswith(HUB) or not Path(file).is_file():
            continue
        try:
            found = islice(_rows(file, record.text["column"], shape), LOOKED_AT)
            rows.update({text: row for text, row in found if text in wanted})
        except IsotropeError:
            continue
    names = list(dict.fromkeys(name for row in rows.values() for name in row))
    if len(rows) < FOUND * len(texts):
        return {}
    return {name: [rows.get(text, {}).get(name) for text in texts] for name in names}


def _rows(table: Source, column: str | None, shape: Shape) -> Iterator[tuple[str, dict[str, Any]]]:
    """The text of each row that has one, and its other columns; columns that are not joined are texts of their own."""
    if len(shape.columns) > 1 and shape.join is None:
        for one in shape.columns:
            yield from _rows(table, None, Shape((one,), None, shape.strip_html))
        return
    opened, count = record_batches(table, ROWS_AT_ONCE, column, shape), 0
    for batch in opened.batches:
        texts = batch_texts(opened, batch, shape, count)
        others = [name for name in batch.schema.names if name not in opened.columns]
        rows = batch.select(others).to_pylist() if others else [{}] * len(texts)
        yield from ((text, row) for text, row in zip(texts, rows, strict=True) if text)
        count += batch.num_rows


def _enough(texts: list[str], where: str) -> list[str]:
    if len(texts) < FEWEST:
        raise IsotropeError(f"{where}: a report needs at least {FEWEST} different texts, and there are {len(texts)}")
    return texts


def _word(value: Any) -> str | None:
    text = "" if value is None else str(value).strip()
    return text or None
