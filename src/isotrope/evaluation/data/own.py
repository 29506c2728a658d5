"""Tables of one's own: pairs with a score, texts with a class, queries with their documents.

Columns go by the usual names, in any case; rows that lack a text or a score are left out, and counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isotrope.evaluation.data.pairs import Pairs
from isotrope.io.errors import IsotropeError
from isotrope.text.cells import cell_number, cell_sentence, is_missing
from isotrope.text.files import Row
from isotrope.text.sources import Source, source_rows

Names = Mapping[str, tuple[str, ...]]  # a column -> what tables call it
PAIRS: Names = {
    "sentence1": ("sentence1", "text1", "question1", "premise"),
    "sentence2": ("sentence2", "text2", "question2", "hypothesis"),
    "score": ("score", "label", "similarity", "is_duplicate", "same"),
}
CLASSES: Names = {"label": ("label", "class", "category", "intent", "topic"), "text": ("text", "sentence")}
RETRIEVAL: Names = {
    "query": ("query", "question"),
    "document": ("document", "passage", "text", "answer"),
    "relevance": ("relevance", "score", "label"),
}
NOT_NEEDED = "relevance"  # a table without it lists what is relevant
WORDS = {"true": 1.0, "yes": 1.0, "false": 0.0, "no": 0.0}


@dataclass(frozen=True)
class OwnPairs:
    """Pairs, and how many rows had no text or no score."""

    pairs: Pairs
    left_out: int


@dataclass(frozen=True)
class OwnClasses:
    """Texts and the class of each, and how many rows had no text or no class."""

    texts: list[str]
    classes: list[str]
    left_out: int


@dataclass(frozen=True)
class Judgements:
    """Queries, all documents, and how relevant which are to each query; and how many rows had no text."""

    queries: list[str]
    documents: list[str]
    relevance: list[dict[int, float]]  # of each query: number of the document -> how relevant it is, above 0
    left_out: int


def read_own_pairs(table: Source) -> OwnPairs:
    """Of columns `sentence1`, `sentence2` and `score`, which may be a grade of any scale, 0 and 1, or yes and no."""
    name, rows = _rows(table, PAIRS, "pairs")
    whole = [row for row in rows if None not in row.values()]
    first, second = ([row[side] for row in whole] for side in ("sentence1", "sentence2"))
    scores = [row["score"] for row in whole]
    _check(name, scores, "pairs")
    return OwnPairs(Pairs(first, second, scores, [name] * len(scores)), len(rows) - len(whole))


def read_own_classes(table: Source) -> OwnClasses:
    """Of columns `text` and `label`."""
    name, rows = _rows(table, CLASSES, "texts with a class")
    whole = [row for row in rows if None not in row.values()]
    _check(name, whole, "texts with a class")
    return OwnClasses([row["text"] for row in whole], [row["label"] for row in whole], len(rows) - len(whole))


def read_own_retrieval(table: Source) -> Judgements:
    """Of columns `query`, `document` and `relevance`; without the last, every row names a relevant document.

    All documents of the table are sought among. A row without a query is a document that answers none.
    """
    name, rows = _rows(table, RETRIEVAL, "queries with documents")
    documents: dict[str, int] = {}
    relevance: dict[str, dict[int, float]] = {}
    left_out = 0
    for row in rows:
        if row["document"] is None or (row["query"] is not None and row["relevance"] is None):
            left_out += 1
            continue
        place = documents.setdefault(row["document"], len(documents))
        if row["query"] is not None and row["relevance"] > 0:
            relevance.setdefault(row["query"], {})[place] = row["relevance"]
    _check(name, list(relevance), "queries with a relevant document")
    return Judgements(list(relevance), list(documents), list(relevance.values()), left_out)


def own_name(table: Source, kind: str) -> str:
    """What tables of results call it: a file by its name without endings, anything else by its kind."""
    if not isinstance(table, str | Path) or str(table) == "-":
        return kind
    return Path(table).name.split(".")[0] or str(table)


def _check(name: str, found: list[Any], what: str) -> None:
    if not found:
        raise IsotropeError(f"{name}: no {what} in it")


def _rows(table: Source, names: Names, what: str) -> tuple[str, list[Row]]:
    name, rows = source_rows(table)
    return name, list(_read(name, rows, names, what))


def _read(name: str, rows: Iterator[Row], names: Names, what: str) -> Iterator[Row]:
    """Each row under our names, None where a cell is missing."""
    columns: dict[str, str | None] = {}
    for count, row in enumerate(rows, 1):
        columns = columns or _columns(row, names, name, what)
        where = f"{name}: row {count}"
        yield {wanted: _cell(wanted, row.get(column) if column else 1.0, where) for wanted, column in columns.items()}


def _columns(row: Row, names: Names, name: str, what: str) -> dict[str, str | None]:
    there = {str(column).strip().lower(): column for column in reversed(row)}
    found = {wanted: next((there[one] for one in spelt if one in there), None) for wanted, spelt in names.items()}
    missing = [wanted for wanted, column in found.items() if column is None and wanted != NOT_NEEDED]
    if missing:
        wanted = " and ".join(f"{one} (or {', '.join(names[one][1:])})" for one in missing)
        raise IsotropeError(f"{name}: {what} need a column {wanted}; it has: {', '.join(map(str, row))}")
    return found


def _cell(column: str, value: Any, where: str) -> Any:
    if is_missing(value):
        return None
    if column == "label":
        return str(value).strip()
    if column not in ("score", "relevance"):
        try:
            return cell_sentence(value, f"column '{column}'")
        except IsotropeError as error:
            raise IsotropeError(f"{where}: {error}") from error
    found = WORDS.get(str(value).strip().lower(), cell_number(value))
    if found is None:
        raise IsotropeError(f"{where}: the {column} '{value!s:.40}' is not a number")
    return found
