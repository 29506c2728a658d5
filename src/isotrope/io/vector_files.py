"""Vectors to files, some thousand rows at a time: nothing has to fit into memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

Floats = np.ndarray[Any, np.dtype[np.float32]]  # (rows, dim)
Write = Callable[[Sequence[str], Floats], None]  # appends sentences and their vectors


@contextmanager
def write_npy(path: Path, dim: int) -> Iterator[Write]:
    """NumPy's own format, vectors only. The header names the number of rows, which is known at the end only: it is
    written twice, and NumPy pads it so that any number fits into the same bytes.
    """
    rows = 0
    with path.open("wb") as file:

        def header() -> None:
            description = {"descr": "<f4", "fortran_order": False, "shape": (rows, dim)}
            np.lib.format.write_array_header_1_0(file, description)

        def write(sentences: Sequence[str], vectors: Floats) -> None:
            nonlocal rows
            file.write(np.ascontiguousarray(vectors, dtype="<f4").data)
            rows += len(vectors)

        header()
        yield write
        file.seek(0)
        header()


@contextmanager
def write_parquet(path: Path, dim: int) -> Iterator[Write]:
    """Columns `text` and `embedding` (lists of `dim` float32), a row group for each lot of rows."""
    import pyarrow
    from pyarrow import parquet

    embedding = pyarrow.list_(pyarrow.float32(), dim)
    schema = pyarrow.schema({"text": pyarrow.string(), "embedding": embedding})
    with parquet.ParquetWriter(path, schema) as file:

        def write(sentences: Sequence[str], vectors: Floats) -> None:
            column = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(vectors.ravel()), type=embedding)
            file.write_batch(pyarrow.record_batch([pyarrow.array(sentences), column], schema=schema))

        yield write


WRITERS = {".npy": write_npy, ".parquet": write_parquet}
