"""Shards hold what one process in memory gives, row for row, whoever writes them and however often it is stopped."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import fsspec
import numpy as np
import pytest
from pyarrow import parquet

import isotrope
from isotrope.encoders import encode
from isotrope.encoders.sharding import Worker
from isotrope.io.errors import IsotropeError
from isotrope.text import bundled_sentences

TEXT: list[str | None] = [*bundled_sentences()[:20], None, " ", *bundled_sentences()[20:30]]
ROWS = [{"id": i, "text": text} for i, text in enumerate(TEXT)]


@pytest.fixture(scope="module")
def wanted() -> np.ndarray[Any, np.dtype[np.float32]]:
    return encode(ROWS, isotrope.load("bundled", device="cpu"))


def check(folder: Path, wanted: Any) -> None:
    table = parquet.read_table(sorted(folder.glob("part-*.parquet")))
    assert table["id"].to_pylist() == list(range(len(ROWS)))
    assert table["text"].to_pylist() == TEXT
    vectors = table["embedding"].to_pylist()
    assert [i for i, vector in enumerate(vectors) if vector is None] == [20, 21]
    found = np.array([vector or [0.0] * 256 for vector in vectors], np.float32)
    assert np.abs(found - wanted).max() < 1e-5
    assert not list(folder.glob("*.partial"))


def test_stopped_and_called_again_it_goes_on(tmp_path: Path, wanted: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    output, call = tmp_path / "v.parquet", Worker.__call__
    seen: list[int] = []

    def stopped(self: Worker, shard: Any) -> Any:
        if shard.number == 3 and 3 not in seen:
            seen.append(3)
            raise KeyboardInterrupt
        seen.append(shard.number)
        return call(self, shard)

    monkeypatch.setattr(Worker, "__call__", stopped)
    output.mkdir()
    (output / "shards.json.partial").write_text("{")  # one before was killed as it began
    with pytest.raises(KeyboardInterrupt):
        encode(ROWS, "bundled", output=output, shard_size=5)
    (output / "part-000001.parquet").unlink()  # somebody removed one
    done = encode(ROWS, "bundled", output=output, shard_size=5)
    assert seen == [0, 1, 2, 3, 1, 3, 4, 5, 6]
    assert (done.rows, done.blank, done.shards, done.dim) == (32, 2, 7, 256)
    check(output, wanted)
    with pytest.raises(IsotropeError, match=r"made with other settings \(normalize False -> True\)"):
        encode(ROWS, "bundled", output=output, shard_size=5, normalize=True)


def test_any_address_that_fsspec_knows(wanted: Any) -> None:
    done = encode(ROWS, "bundled", output="memory://some/v.npy", shard_size=20)
    assert done.shards == 2
    files = fsspec.filesystem("memory")
    found = [np.load(files.open(f"/some/v.npy/part-00000{k}.npy")) for k in range(2)]
    assert [len(part) for part in found] == [20, 12]
    assert np.abs(np.concatenate(found) - wanted).max() < 1e-5
    assert set(json.loads(files.cat_file("/some/v.npy/shards.json"))["shards"]) == {"0", "1"}


@pytest.mark.parametrize("ray", [False, True])
def test_several_workers_write_the_same(ray: bool, tmp_path: Path, wanted: Any) -> None:
    if ray and importlib.util.find_spec("ray") is None:
        pytest.skip("ray is not installed")
    done = encode(ROWS, "bundled", output=tmp_path / "v", shard_size=8, processes=2, ray=ray)
    assert (done.rows, done.blank, done.shards) == (32, 2, 4)
    check(tmp_path / "v", wanted)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"processes": 2}, "go together with output="),
        ({"shard_size": 0, "output": "x"}, "shard_size must be at least 1, not 0"),
        ({"shard_size": 5, "output": "nix://x"}, "nix"),
        ({"shard_size": 5, "output": "x", "vector_column": "id"}, "there is already a column 'id'"),
    ],
)
def test_what_cant_be_sharded_is_said(options: dict[str, Any], message: str, tmp_path: Path) -> None:
    if "output" in options and "://" not in options["output"]:
        options = {**options, "output": tmp_path / "x"}
    with pytest.raises(IsotropeError, match=message):
        encode(ROWS, "bundled", **options)
