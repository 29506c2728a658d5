"""Vectors to files, some thousand rows at a time: nothing has to fit into memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from isotrope.io.errors import IsotropeError

Floats = np.ndarray[Any, np.dtype[np.float32]]  # (rows, dim)
Bools = np.ndarray[Any, np.dtype[np.bool_]]  # (rows,)
Write = Callable[[Any, Floats, Bools], None]  # appends a record batch, the vectors of its rows, and which have none
NULLS_SINCE = 26  # pyarrow writes, and reads, lists of one length of which some are null


@contextmanager
def write_npy(path: Path, schema: Any, dim: int, column: str) -> Iterator[Write]:
    """NumPy's own format, vectors only; zeros where there is none. The header names the number of rows, which is known
    at the end only: it is written twice, and NumPy pads it so that any number fits into the same bytes.
    """
    rows = 0
    with path.open("wb") as file:

        def header() -> None:
            description = {"descr": "<f4", "fortran_order": False, "shape": (rows, dim)}
            np.lib.format.write_array_header_1_0(file, description)

        def write(batch: Any, vectors: Floats, blank: Bools) -> None:
            nonlocal rows
            file.write(np.ascontiguousarray(vectors, dtype="<f4").data)
            rows += len(vectors)

        header()
        yield write
        file.seek(0)
        header()


@contextmanager
def write_parquet(path: Path, schema: Any, dim: int, column: str) -> Iterator[Write]:
    """The table as it was, and a last column of vectors (lists of `dim` float32), null where there is none; a row group
    for each lot of rows.
    """
    from pyarrow import parquet

    with parquet.ParquetWriter(path, with_vectors(schema, dim, column)) as file:

        def write(batch: Any, vectors: Floats, blank: Bools) -> None:
            file.write_batch(add_vectors(batch, vectors, blank, column))

        yield write


WRITERS = {".npy": write_npy, ".parquet": write_parquet}


def with_vectors(schema: Any, dim: int, column: str) -> Any:
    """An Arrow schema and a column of vectors."""
    import pyarrow  # slow to import

    return schema.append(pyarrow.field(column, pyarrow.list_(pyarrow.float32(), dim)))


def add_vectors(batch: Any, vectors: Floats, blank: Bools, column: str) -> Any:
    """A record batch and the vectors of its rows."""
    import pyarrow

    if blank.any() and int(pyarrow.__version__.partition(".")[0]) < NULLS_SINCE:
        raise IsotropeError(
            f"rows without text can't be written to Parquet by pyarrow {pyarrow.__version__}; install pyarrow>="
            f"{NULLS_SINCE} (Python 3.11 or later), write .npy, or take such rows out"
        )
    schema = with_vectors(batch.schema, vectors.shape[1], column)
    values, mask = pyarrow.array(vectors.ravel(), pyarrow.float32()), pyarrow.array(blank)
    made = pyarrow.FixedSizeListArray.from_arrays(values, type=schema.field(column).type, mask=mask)
    return pyarrow.RecordBatch.from_arrays([*batch.columns, made], schema=schema)
