"""The texts of a file that somebody chose on the page: read in memory, and forgotten."""

from __future__ import annotations

from io import BytesIO
from typing import Any

from isotrope.io.errors import IsotropeError
from isotrope.text.cells import cell_sentence, is_missing
from isotrope.text.files import Row, check_columns, named_kind, stream_rows
from isotrope.text.markup import strip_markup
from isotrope.text.sources import TEXT_COLUMNS

TAKEN = ("txt", "csv", "tsv", "jsonl")
LOOKED_AT = 200  # rows, to find out which column holds text


def texts_of(name: str, content: str, column: str | None = None, *, most: int) -> dict[str, Any]:
    """Distinct texts without HTML, at most so many, and the columns that there are.

    >>> texts_of("x.csv", "id,body\\n1,A dog barks.\\n2,\\n3,<p>A dog barks.</p>\\n", most=10)["texts"]
    ['A dog barks.']
    """
    if named_kind(name) not in TAKEN:
        raise IsotropeError(f"{name}: a file of .{', .'.join(TAKEN)} is needed here")
    plain = name.lower().removesuffix(".gz")  # a browser has unpacked nothing
    if plain != name.lower():
        raise IsotropeError(f"{name}: unpack it first")
    stream = BytesIO(content.encode(errors="replace"))
    rows = [row for row in stream_rows(stream, name) if row is not None]
    if not rows:
        raise IsotropeError(f"{name}: no rows in it")
    columns = list(dict.fromkeys(str(one) for row in rows[:LOOKED_AT] for one in row))
    if column is not None:
        check_columns(columns, [column], name)
    chosen = column or _likeliest(rows[:LOOKED_AT], columns)
    texts = dict.fromkeys(text for row in rows if (text := _text(row.get(chosen), name)))
    if not texts:
        raise IsotropeError(f"{name}: no text in column '{chosen}'")
    kept = list(texts)[:most]
    return {
        "texts": kept,
        "column": chosen,
        "columns": columns,
        "rows": len(rows),
        "left_out": len(rows) - len(kept),
    }


def _likeliest(rows: list[Row], columns: list[str]) -> str:
    """`text` or `sentence`, else the column with the most letters."""
    for name in TEXT_COLUMNS:
        if name in columns:
            return name
    return max(columns, key=lambda one: sum(_letters(row.get(one)) for row in rows))


def _letters(value: Any) -> int:
    return sum(map(str.isalpha, value)) if isinstance(value, str) else 0


def _text(value: Any, name: str) -> str | None:
    if is_missing(value):
        return None
    return cell_sentence(strip_markup(value) if isinstance(value, str) else str(value), name) or None
