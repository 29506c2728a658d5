"""Integer tables on disk that grow row by row and are read memory-mapped."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy

from isotrope.io.atomic import whole_or_nothing

IntArray = np.ndarray[Any, np.dtype[np.int64]]


@contextmanager
def growing_table(path: Path, width: int) -> Iterator[Callable[[IntArray], None]]:
    """Writes a .npy of int64 (rows, width), given as any number of (some, width). It is whole or not there at all."""
    rows = 0
    with whole_or_nothing(path) as partial, partial.open("wb") as file:

        def write_header() -> None:
            npy.write_array_header_1_0(file, {"descr": "<i8", "fortran_order": False, "shape": (rows, width)})

        def append(block: IntArray) -> None:
            nonlocal rows
            rows += len(block)
            file.write(block.astype("<i8", order="C", copy=False).tobytes())

        write_header()
        yield append
        file.seek(0)
        write_header()  # as long as the first one: numpy leaves room for the number of rows to grow


def open_table(path: Path) -> IntArray:
    """The table, memory-mapped, read-only."""
    table: IntArray = np.load(path, mmap_mode="r")
    return table
