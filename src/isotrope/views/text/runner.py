"""A corpus to a table of texts beside their views, in constant memory.

Sentences are taken in fixed chunks. A chunk that was made is in the cache before the next one begins, so a run that was
killed goes on at its last chunk when it is started again, and writes the file that it would have written at once, byte
for byte. Rows stay as they come: a sentence that occurs twice is two rows, and made once. Sentences are kept without
the blanks around them; those that have nothing else are left out.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from isotrope.io.atomic import whole_or_nothing
from isotrope.io.errors import IsotropeError
from isotrope.text.sources import Source, matching_rows
from isotrope.views.text.base import Outcome, TextView, outcomes
from isotrope.views.text.store import Shelf, Store

CHUNK = 256  # sentences that are made together, and lost together at the worst
ROW_GROUP = 8192  # rows that are written together
METADATA = b"isotrope"  # where the table's schema has the views' parameters and the counts, as JSON

Row = tuple[str, ...]  # a text and its views
Write = Callable[[Row], None]


@dataclass
class ViewCounts:
    """What became of the sentences in one view."""

    made: int = 0
    identical: int = 0  # of those that were made
    empty: int = 0  # without a reason
    flaws: dict[str, int] = field(default_factory=dict)  # no view because of: wrong language, unknown words


@dataclass
class Counts:
    """What was read and written. `dropped` are rows that lack one of the views, or are identical and not wanted so."""

    rows: int = 0
    blank: int = 0
    dropped: int = 0
    written: int = 0
    views: dict[str, ViewCounts] = field(default_factory=dict)


def write_views(
    sources: Sequence[Source],
    views: Mapping[str, TextView],
    output: Path,
    *,
    column: str | None = None,
    drop_identical: bool = False,
    cache: Path | None = None,
    fresh: bool = False,
    progress: Callable[[int], None] = lambda rows: None,
) -> Counts:
    """Writes `output` (.parquet): the column `text`, and one for each of `views` under its name.

    Only rows that have all the views are written, since a recipe needs them together. A view identical to its text
    counts as one, unless `drop_identical`. `cache` is the folder of what was made before (`$ISOTROPE_CACHE`, or the
    user's own); `fresh` makes all anew. `progress` is told after each chunk how many rows were read.
    """
    if not views or "text" in views:
        raise IsotropeError("give views under names of their own; 'text' is the name of the sentences' column")
    counts = Counts(views={name: ViewCounts() for name in views})
    about = {"views": {name: view.parameters for name, view in views.items()}, "drop_identical": drop_identical}
    with Store(cache) as store, whole_or_nothing(output) as partial:
        shelves = {name: store.of(view) for name, view in views.items()}
        with _table(partial, ("text", *views), lambda: {**about, "counts": asdict(counts)}) as write:
            for texts in _chunks(_texts(sources, column, counts)):
                found = [_outcomes(views[name], shelf, texts, fresh) for name, shelf in shelves.items()]
                for text in texts:
                    _count_and_write(text, [outcome[text] for outcome in found], counts, drop_identical, write)
                progress(len(texts))
        if not counts.written:
            raise IsotropeError(f"no rows are left for the table: {_why(counts)}")
    return counts


def count_texts(sources: Sequence[Source], column: str | None = None) -> int:
    """How many sentences there are. Reads them all, so that a bad row is found now and not after hours."""
    return sum(1 for _ in _texts(sources, column, Counts()))


def read_metadata(path: Path) -> dict[str, Any]:
    """How a table of views was made: `views` (the parameters of each), `drop_identical`, `counts`."""
    from pyarrow import parquet

    about: dict[str, Any] = json.loads((parquet.read_schema(path).metadata or {}).get(METADATA, b"{}"))
    return about


def _outcomes(view: TextView, shelf: Shelf, texts: Sequence[str], fresh: bool) -> dict[str, Outcome]:
    """From the cache, after what it lacks was made. So a file has nothing that the cache has otherwise."""
    found = {} if fresh else shelf.find(texts)
    lacking = [text for text in dict.fromkeys(texts) if text not in found]
    if lacking:
        shelf.add(dict(zip(lacking, outcomes(view, lacking), strict=True)), replace=fresh)
        found = shelf.find(texts)
    return found


def _count_and_write(text: str, found: Sequence[Outcome], counts: Counts, drop_identical: bool, write: Write) -> None:
    for outcome, view in zip(found, counts.views.values(), strict=True):
        if outcome.wording:
            view.made += 1
            view.identical += outcome.wording == text
        elif outcome.flaw:
            view.flaws[outcome.flaw] = view.flaws.get(outcome.flaw, 0) + 1
        else:
            view.empty += 1
    wordings = [outcome.wording for outcome in found]
    if not all(wordings) or (drop_identical and text in wordings):
        counts.dropped += 1
    else:
        counts.written += 1
        write((text, *wordings))


def _texts(sources: Sequence[Source], column: str | None, counts: Counts) -> Iterator[str]:
    for _, rows in matching_rows(sources, ("text",), column):
        for row in rows:
            if row["text"] is None:
                counts.blank += 1
            else:
                counts.rows += 1
                yield row["text"]


def _chunks(texts: Iterator[str]) -> Iterator[list[str]]:
    while chunk := list(islice(texts, CHUNK)):
        yield chunk


@contextmanager
def _table(path: Path, columns: Row, about: Callable[[], dict[str, Any]]) -> Iterator[Write]:
    """Writes rows to a Parquet file. What it is about is asked for at the end, when everything has been counted. An
    Arrow schema, which is stored at the beginning, would hide it from those who read the schema's metadata.
    """
    import pyarrow  # slow to import
    from pyarrow import parquet

    schema = pyarrow.schema({column: pyarrow.string() for column in columns})
    rows: list[Row] = []

    def flush() -> None:
        arrays = [pyarrow.array(values, pyarrow.string()) for values in zip(*rows, strict=True)]
        file.write_table(pyarrow.Table.from_arrays(arrays, schema=schema))
        rows.clear()

    def write(row: Row) -> None:
        rows.append(row)
        if len(rows) == ROW_GROUP:
            flush()

    with parquet.ParquetWriter(path, schema, compression="zstd", store_schema=False) as file:
        yield write
        if rows:
            flush()
        file.add_key_value_metadata({METADATA: json.dumps(about(), ensure_ascii=False)})


def _why(counts: Counts) -> str:
    reasons = [f"{counts.rows:,} sentences, {counts.blank:,} blank rows"]
    for name, view in counts.views.items():
        told = {**view.flaws, "empty": view.empty, "identical": view.identical}
        reasons += [f"{name} {reason} in {number:,}" for reason, number in told.items() if number]
    return "; ".join(reasons)
