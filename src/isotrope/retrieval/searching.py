"""`search`: the rows of an index that are nearest to a query."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.markup import escape
from rich.table import Table

from isotrope.encoders.encoder import Encoder
from isotrope.encoders.foreign import ForeignEncoder
from isotrope.encoders.loading import Model, load_any
from isotrope.encoders.nearest import EXACT_UP_TO, Floats, Ints, nearest
from isotrope.evaluation.results.printing import Printable
from isotrope.io.errors import IsotropeError, one_line
from isotrope.retrieval.filters import Where, conditions, matching
from isotrope.retrieval.store import IndexFolder
from isotrope.text.markup import strip_markup

WIDEST = 60  # characters of a cell that are printed


@dataclass(frozen=True)
class Hit:
    """A row that was found: its number in the index, its cosine with the query, and the row itself."""

    number: int
    cosine: float
    row: dict[str, Any]


@dataclass(frozen=True, repr=False)
class Hits(Printable):
    """What was found for a query, the nearest first. It can be iterated over, counted and indexed like a list."""

    query: str
    hits: list[Hit]
    exact: bool

    def __len__(self) -> int:
        return len(self.hits)

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __getitem__(self, place: int) -> Hit:
        return self.hits[place]

    def parts(self) -> Iterator[Table | str]:
        """A table of the rows."""
        if not self.hits:
            yield "Nothing was found"
            return
        table = Table("Cosine", *(escape(str(name)) for name in self.hits[0].row))
        widest = WIDEST if len(self.hits[0].row) > 1 else 2 * WIDEST
        for hit in self.without_html():
            cells = ("" if value is None else one_line(str(value), widest) for value in hit.row.values())
            table.add_row(f"{hit.cosine:.3f}", *map(escape, cells))
        yield table

    def without_html(self) -> Hits:
        """The same for people to read: cells without tags, entities as what they stand for."""
        rows = ({name: _readable(value) for name, value in hit.row.items()} for hit in self.hits)
        return replace(self, hits=[replace(hit, row=row) for hit, row in zip(self.hits, rows, strict=True)])

    def as_dict(self) -> dict[str, Any]:
        """`{"query": ..., "hits": [{"row": number, "cosine": ..., "columns": {...}}]}`."""
        hits = [{"row": hit.number, "cosine": round(hit.cosine, 4), "columns": _plain(hit.row)} for hit in self.hits]
        return {"query": self.query, "exact": self.exact, "hits": hits}


@dataclass
class Index:
    """An index that is open, with its encoder: for many searches."""

    files: IndexFolder
    encoder: Encoder | ForeignEncoder
    _graph: Any = field(default=None)

    @classmethod
    def open(
        cls, folder: str | Path, model: Model | None = None, *, device: str | None = None, precision: str | None = None
    ) -> Index:
        """With the model that it was made with, unless that is given in another place or in memory."""
        files = IndexFolder.open(Path(folder))
        pooling = files.about.pooling or None
        encoder = load_any(model or files.about.model, pooling=pooling, device=device, precision=precision)
        if encoder.dim != files.about.dim:
            raise IsotropeError(
                f"{folder}: made by '{files.about.model}', whose vectors have {files.about.dim} dimensions; those of "
                f"'{encoder.name}' have {encoder.dim}"
            )
        return cls(files, encoder, files.graph())

    def __len__(self) -> int:
        return len(self.files)

    def search(self, query: str, k: int = 10, *, where: Where | None = None, exact: bool = False) -> Hits:
        """The `k` rows nearest to a query; `where` are conditions on columns, which are always searched exactly."""
        if not query.strip():
            raise IsotropeError("the query is blank; say what to look for")
        return self.search_vector(self.encoder.encode([query])[0], k, where=where, exact=exact, query=query)

    def search_vector(
        self, vector: Any, k: int = 10, *, where: Where | None = None, exact: bool = False, query: str = ""
    ) -> Hits:
        """The same by a vector (dim,)."""
        if k < 1:
            raise IsotropeError(f"k must be at least 1, not {k}")
        length = float(np.linalg.norm(vector))
        unit = np.asarray(vector, np.float32)[None] / (length or 1)
        given = conditions(where)
        by_graph = self._graph is not None and not given and not exact
        numbers, cosines = self._by_graph(unit, k) if by_graph else self._exact(unit, k, self._allowed(given))
        rows = self.files.rows(numbers.tolist())
        hits = [Hit(*found) for found in zip(numbers.tolist(), cosines.tolist(), rows, strict=True)]
        return Hits(query, hits, not by_graph)

    def _allowed(self, given: list[tuple[str, str, Any]]) -> Ints | None:
        if not given or not self.files.about.shards:
            return None
        names = [column for column, _, _ in given if column in self.files.schema.names]
        table = self.files.table(list(dict.fromkeys(names)) or self.files.schema.names)
        return matching(table, given, str(self.files.folder))

    def _exact(self, query: Floats, k: int, allowed: Ints | None) -> tuple[Ints, Floats]:
        numbers, cosines = np.empty(0, np.int64), np.empty(0, np.float32)
        for start, vectors in self.files.vectors():
            some = np.flatnonzero(np.asarray(vectors).any(axis=1))  # rows without text are never found
            if allowed is not None:
                some = np.intersect1d(some, allowed - start, assume_unique=True)
            if not len(some):
                continue
            found = nearest(
                np.asarray(vectors[some]), query, min(k, len(some)), exact_up_to=max(len(some), EXACT_UP_TO)
            )
            numbers = np.concatenate([numbers, some[found.places[0]] + start])
            cosines = np.concatenate([cosines, found.cosines[0]])
        best = np.argsort(-cosines, kind="stable")[:k]
        return numbers[best], cosines[best]

    def _by_graph(self, query: Floats, k: int) -> tuple[Ints, Floats]:
        found = self._graph.search(query[0], k)
        return found.keys.astype(np.int64), (1 - found.distances).astype(np.float32)


def search(
    index: str | Path | Index,
    query: str,
    k: int = 10,
    *,
    where: Where | None = None,
    exact: bool = False,
    model: Model | None = None,
    device: str | None = None,
    precision: str | None = None,
) -> Hits:
    """The rows of an index that are nearest to a query.

    Args:
        index: the folder of an index, or an `Index` that is open, for many searches.
        query: any text.
        k: how many rows.
        where: conditions on columns: `"queue=hardware"`, `["score>=4", "title~printer"]` (all must hold; `~` is
            contains), or `{"queue": "hardware"}`.
        exact: compares with all vectors even where there is a graph.
        model: where the index's model lies now, if not where it was.
        device: `cpu`, `cuda` ...; by default the fastest there is.
        precision: `float32`, `bfloat16` or `float16`.
    """
    opened = index if isinstance(index, Index) else Index.open(index, model, device=device, precision=precision)
    return opened.search(query, k, where=where, exact=exact)


def _readable(value: Any) -> Any:
    return strip_markup(value) if isinstance(value, str) else value


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    """What JSON can hold; the rest as text."""
    plain = (str, int, float, bool, list, dict, type(None))
    return {name: value if isinstance(value, plain) else str(value) for name, value in row.items()}
