"""A table in memory for what compares all its texts: each distinct text once, and which rows have it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from isotrope.encoders.encoder import Encoder
from isotrope.encoders.encoding import EncodedRows, check_batch_size, encode_table
from isotrope.encoders.foreign import ForeignEncoder
from isotrope.encoders.loading import Model, load_any
from isotrope.encoders.nearest import Floats
from isotrope.io.atomic import whole_or_nothing
from isotrope.io.errors import IsotropeError
from isotrope.retrieval.left_out import LeftOut
from isotrope.text.boilerplate import without_boilerplate
from isotrope.text.placeholders import is_placeholder
from isotrope.text.record_batches import batch_texts, record_batches
from isotrope.text.shaping import Shape
from isotrope.text.sources import Source

ENDINGS = (".parquet",)
ROWS_AT_ONCE = 2048


@dataclass(frozen=True)
class Texts:
    """Distinct texts, their vectors of length one (texts, dim), the rows of each, and how many rows there are.

    `contents` is what was encoded of each, and `left_out` what was not. Rows of placeholders belong to no text.
    """

    texts: list[str]
    vectors: Floats
    rows: list[list[int]]
    count: int
    encoder: Encoder | ForeignEncoder
    contents: list[str]
    left_out: LeftOut


def read_texts(
    table: Source,
    model: Model,
    *,
    column: str | None = None,
    columns: str | Iterable[str] | None = None,
    join: str | None = None,
    strip_html: bool = False,
    batch_size: int = 32,
    device: str | None = None,
    precision: str | None = None,
    boilerplate: bool = True,
    placeholders: bool = True,
) -> Texts:
    """Encodes a table, each distinct text once. Rows without text belong to none.

    Without `boilerplate` phrases that many texts share, such as greetings, are not encoded; without `placeholders`
    texts such as N/A are not.
    """
    shape = Shape.of(columns, join, strip_html, column=column)
    opened = record_batches(table, ROWS_AT_ONCE, column, shape)
    rows: dict[str, list[int]] = {}
    nothing: Counter[str] = Counter()
    count = 0
    for batch in opened.batches:
        for number, text in enumerate(batch_texts(opened, batch, shape, count), count):
            if text is not None and not placeholders and is_placeholder(text):
                nothing[text] += 1
            elif text is not None:
                rows.setdefault(text, []).append(number)
        count += batch.num_rows
    if not rows:
        what = f"placeholders such as '{next(iter(nothing))}'" if nothing else "blank lines"
        raise IsotropeError(f"{opened.name}: no sentences in it ({what} only)")
    encoder = load_any(model, device=device, precision=precision)
    contents, phrases = (list(rows), []) if boilerplate else without_boilerplate(list(rows))
    encoded: Iterable[EncodedRows] = encode_table(
        record_batches(contents, ROWS_AT_ONCE),
        encoder,
        Shape(),
        batch_size=check_batch_size(batch_size),
        normalize=True,
    )
    vectors = np.concatenate([one.vectors for one in encoded])
    left_out = LeftOut(phrases, nothing.total(), max(nothing, key=nothing.__getitem__, default=""))
    return Texts(list(rows), vectors, list(rows.values()), count, encoder, contents, left_out)


def write_columns(
    table: Source,
    output: Path,
    more: Mapping[str, Sequence[Any]],
    *,
    column: str | None = None,
    columns: str | Iterable[str] | None = None,
    join: str | None = None,
    **others: Any,
) -> None:
    """The table as it is, and more columns behind its own: a value for each row. Options as of `read_texts`."""
    import pyarrow  # slow to import
    from pyarrow import parquet

    opened = record_batches(table, ROWS_AT_ONCE, column, Shape.of(columns, join))
    for name in more:
        if name in opened.schema.names:
            raise IsotropeError(f"{opened.name}: there is already a column '{name}'; rename it first")
    arrays = {name: pyarrow.array(values) for name, values in more.items()}
    schema, count = opened.schema, 0
    for name, array in arrays.items():
        schema = schema.append(pyarrow.field(name, array.type))
    with whole_or_nothing(output) as path, parquet.ParquetWriter(path, schema) as file:
        for batch in opened.batches:
            made = [array.slice(count, batch.num_rows) for array in arrays.values()]
            file.write_batch(pyarrow.RecordBatch.from_arrays([*batch.columns, *made], schema=schema))
            count += batch.num_rows
