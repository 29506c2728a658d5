"""`index`: a table becomes searchable, and grows."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from isotrope.encoders.encoding import EncodedRows, check_batch_size, encode_table
from isotrope.encoders.loading import Model, load_any
from isotrope.encoders.streaming import CHUNK_BATCHES
from isotrope.io.atomic import is_partial, sync
from isotrope.io.errors import IsotropeError
from isotrope.io.progress import Display, waiting
from isotrope.retrieval.store import ABOUT, About, IndexFolder, row_keys
from isotrope.text.record_batches import Batches, record_batches
from isotrope.text.shaping import Shape
from isotrope.text.sources import Source

SHARD_ROWS = 16_384  # about; a killed index loses less than that
GRAPH_ABOVE = 100_000  # rows among which all vectors are compared


@dataclass(frozen=True)
class Indexed:
    """An index, and what was done to it."""

    path: Path
    rows: int
    added: int
    known: int  # rows that were there already
    blank: int  # of those that were added: without text, never found
    approximate: bool  # whether it is searched by a graph


def index(
    table: Source,
    model: Model = "small",
    output: str | Path = "index",
    *,
    column: str | None = None,
    columns: str | Iterable[str] | None = None,
    join: str | None = None,
    strip_html: bool = False,
    pooling: str | None = None,
    batch_size: int = 32,
    device: str | None = None,
    precision: str | None = None,
    graph_above: int = GRAPH_ABOVE,
    force: bool = False,
    show_progress: bool = False,
) -> Indexed:
    """Makes a table searchable by meaning, or adds to an index what it does not have yet.

    A row that is there already, with all its columns, is not added again. So the same call goes on where it was
    stopped, and one with a table that has grown adds what is new.

    Args:
        table: a file, a data frame, rows or sentences; all columns are kept.
        model: a name, a folder, an encoder. An index has one model.
        output: the folder of the index.
        column: the column that holds the text.
        columns: several that make one text, with `join` between them.
        join: what stands between them.
        strip_html: takes HTML out of the text that is encoded; the rows keep it.
        pooling: in place of the model's own.
        batch_size: texts at a time.
        device: `cpu`, `cuda` ...; by default the fastest there is.
        precision: `float32`, `bfloat16` or `float16`.
        graph_above: with more rows than that the index is searched by a graph, which misses some of the nearest.
        force: makes a new index in place of the one in `output`.
        show_progress: shows a bar on a terminal.

    Example:
        >>> import isotrope, tempfile
        >>> folder = tempfile.mkdtemp()
        >>> rows = [{"id": 1, "text": "A dog barks."}, {"id": 2, "text": "Interest rates rise."}]
        >>> isotrope.index(rows, output=folder).added, isotrope.index(rows, output=folder).added
        (2, 0)
        >>> [hit.row["id"] for hit in isotrope.search(folder, "The bank asks for more.", k=1)]
        [2]
    """
    folder, shape = Path(output), Shape.of(columns, join, strip_html, column=column)
    rows = record_batches(table, check_batch_size(batch_size) * CHUNK_BATCHES, column, shape)
    _check_folder(folder, force=force)
    with waiting("Loading", shown=show_progress):
        encoder = load_any(model, pooling=pooling, device=device, precision=precision)
    name = str(model) if isinstance(model, str | Path) else encoder.name
    pools = str(encoder.pooling) if pooling else ""
    about = About(name, pools, encoder.dim, list(rows.columns), join, strip_html)
    opened = _opened(folder, about, rows)
    known, added, blank, before = opened.keys(), 0, 0, len(opened)
    fresh = _only_new(rows, known)
    with Display("Indexing", shown=show_progress, unit="rows") as advance:
        for shard in _shards(encode_table(fresh, encoder, shape, batch_size=batch_size, normalize=True), SHARD_ROWS):
            opened.add(*_joined(shard, opened.schema, rows.name))
            blank += sum(int(one.blank.sum()) for one in shard)
            added += sum(len(one.texts) for one in shard)
            advance(sum(len(one.texts) for one in shard))
    if len(opened) > graph_above and opened.about.in_graph != len(opened):
        with waiting("Building the graph", shown=show_progress):
            opened.build_graph()
    there = before - known.total()  # rows that the table shares with the index
    return Indexed(folder, len(opened), added, there, blank, opened.about.in_graph == len(opened))


def _check_folder(folder: Path, *, force: bool) -> None:
    known = (folder / ABOUT).is_file()
    if folder.is_dir() and not known and not all(map(is_partial, folder.iterdir())):
        raise IsotropeError(f"{folder}: a folder with other files in it; choose another")
    if force and known:
        shutil.rmtree(folder)


def _opened(folder: Path, about: About, rows: Batches) -> IndexFolder:
    """The index in the folder, which must be of the same making, or a new one."""
    if (folder / ABOUT).is_file():
        there = IndexFolder.open(folder)
        for what in ("model", "pooling", "dim", "columns", "join", "strip_html"):
            old, new = getattr(there.about, what), getattr(about, what)
            if old != new:
                raise IsotropeError(
                    f"{folder}: the index was made with another {what} ({old} -> {new}); force=True makes a new one",
                    argument="force=True",
                )
        names = there.schema.names if there.about.shards else rows.schema.names
        if names != rows.schema.names:
            raise IsotropeError(f"{rows.name}: its columns are not those of the index: {', '.join(names)}")
        return there
    folder.mkdir(parents=True, exist_ok=True)
    made = IndexFolder(folder, about)
    made.write()
    sync(folder)
    return made


def _only_new(rows: Batches, known: Any) -> Batches:
    """Rows that the index does not have, each as often as it is more often in the table. `known` is counted down."""

    def fresh() -> Iterator[Any]:
        for batch in rows.batches:
            new = []
            for number, key in enumerate(row_keys(batch).tolist()):
                if known[key] > 0:
                    known[key] -= 1
                else:
                    new.append(number)
            if new:
                yield batch.take(new) if len(new) < batch.num_rows else batch

    return rows._replace(batches=fresh())


def _shards(encoded: Iterator[EncodedRows], size: int) -> Iterator[list[EncodedRows]]:
    shard: list[EncodedRows] = []
    try:
        for one in encoded:
            shard.append(one)
            if sum(len(some.texts) for some in shard) >= size:
                yield shard
                shard = []
    except IsotropeError as error:
        if "no sentences in it" not in str(error):  # nothing new is no mistake, and new rows may all be blank
            raise
    if shard:
        yield shard


def _joined(shard: list[EncodedRows], schema: Any, name: str) -> tuple[Any, Any, Any]:
    import pyarrow  # slow to import

    table = pyarrow.Table.from_batches([one.batch for one in shard])
    keys = np.concatenate([row_keys(one.batch) for one in shard])
    try:
        table = table.cast(schema) if schema is not None else table
    except (pyarrow.ArrowException, ValueError) as error:
        raise IsotropeError(f"{name}: its columns do not fit those of the index ({error})") from error
    return table, np.concatenate([one.vectors for one in shard]), keys
