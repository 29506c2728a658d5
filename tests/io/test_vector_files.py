from __future__ import annotations

import io
import tempfile
from pathlib import Path

import numpy as np
import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from isotrope.io.errors import IsotropeError
from isotrope.io.vector_files import WRITERS


@pytest.mark.parametrize("ending", WRITERS)
@settings(deadline=None, max_examples=40)
@given(lots=st.lists(st.integers(0, 40)), dim=st.integers(1, 9), seed=st.integers(0, 2**32 - 1))
def test_rows_come_back_whatever_lots_they_were_written_in(ending: str, lots: list[int], dim: int, seed: int) -> None:
    vectors = np.random.default_rng(seed).normal(size=(sum(lots), dim)).astype(np.float32)
    blank = np.random.default_rng(seed).random(len(vectors)) < 0.2
    vectors[blank] = 0
    table = pyarrow.table({"id": np.arange(len(vectors)), "text": [f"sentence {i}" for i in range(len(vectors))]})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"x{ending}")
        with WRITERS[ending](path, table.schema, dim, "vector") as write:
            for end, size in zip(np.cumsum(lots), lots, strict=True):
                some = slice(end - size, end)
                batch = pyarrow.RecordBatch.from_pylist(table.slice(end - size, size).to_pylist(), table.schema)
                write(batch, vectors[some], blank[some])
        if ending == ".npy":
            found, mapped = np.load(path), np.load(path, mmap_mode="r")
            assert np.array_equal(mapped, vectors)
        else:
            read = parquet.read_table(path)
            assert read.schema.field("vector").type == pyarrow.list_(pyarrow.float32(), dim)
            assert read.drop_columns("vector") == table
            rows = read["vector"].to_pylist()
            assert [row is None for row in rows] == blank.tolist()
            found = np.array([row or [0] * dim for row in rows], dtype=np.float32).reshape(-1, dim)
    assert found.dtype == np.float32
    assert np.array_equal(found, vectors)


def test_any_number_of_rows_fits_into_the_header() -> None:
    def header(rows: int) -> int:
        stream = io.BytesIO()
        np.lib.format.write_array_header_1_0(stream, {"descr": "<f4", "fortran_order": False, "shape": (rows, 1024)})
        return stream.tell()

    assert header(0) == header(2**62)


def test_a_pyarrow_that_can_not_write_rows_without_a_vector_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(pyarrow, "__version__", "25.0.0")
    batch, vectors = pyarrow.RecordBatch.from_pydict({"text": ["x", ""]}), np.zeros((2, 3), np.float32)
    with WRITERS[".parquet"](tmp_path / "x.parquet", batch.schema, 3, "vector") as write:
        write(batch, vectors, np.array([False, False]))
        with pytest.raises(IsotropeError, match=r"can't be written to Parquet by pyarrow 25.0.0; install pyarrow>=26"):
            write(batch, vectors, np.array([False, True]))
