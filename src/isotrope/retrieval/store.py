"""An index on disk: the rows of a table with all their columns, and a vector for each.

    index.json         model, columns, the shards that are whole, and the checksums of their files
    rows-N.parquet     rows as they were given
    vectors-N.npy      their vectors, of length one; zeros where a row has no text
    keys-N.npy         a hash of each row, by which rows are known again
    near.usearch       a graph of all vectors, where there are many

A shard counts once it stands in index.json, so whoever is killed loses the last one only. A file is held against its
checksum when it is first read: one flipped bit in a vector would make another neighbour, and look like any other.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import TypeAdapter

from isotrope.io.atomic import whole_or_nothing
from isotrope.io.errors import IsotropeError, reason
from isotrope.io.hashes import digest, file_digest
from isotrope.io.vector_files import Floats
from isotrope.text.arrays import IntArray

ABOUT, GRAPH = "index.json", "near.usearch"
SUM = "sum"  # of index.json, in it
VERSION = 1
EDGES, CANDIDATES = 16, 128  # of the graph: edges of a node, and how many candidates are looked at


@dataclass
class About:
    """What an index was made with, and the number of rows of each shard."""

    model: str
    pooling: str
    dim: int
    columns: list[str]
    join: str | None
    strip_html: bool
    shards: list[int] = field(default_factory=list)
    in_graph: int = 0  # rows that the graph has; 0: there is none
    sums: dict[str, str] = field(default_factory=dict)  # of files, by name; an older index has none
    version: int = VERSION


class IndexFolder:
    """The files of an index."""

    def __init__(self, folder: Path, about: About) -> None:
        self.folder, self.about = folder, about
        self._checked: set[str] = set()  # files that were found whole

    @classmethod
    def open(cls, folder: Path) -> IndexFolder:
        """An index that is there."""
        if not (folder / ABOUT).is_file():
            raise IsotropeError(f"{folder}: there is no index; make one with isotrope index")
        try:
            values = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
            if values.pop(SUM, None) not in (None, _sum(values)):
                raise ValueError(SUM)
            about = TypeAdapter(About).validate_python(values)
        except (ValueError, TypeError, AttributeError, OSError) as error:
            raise IsotropeError(f"{folder}: its {ABOUT} can't be read; make the index again") from error
        return cls(folder, about)

    def __len__(self) -> int:
        return sum(self.about.shards)

    def write(self) -> None:
        """Has `about` on disk: from now on its shards count."""
        values = asdict(self.about)
        with whole_or_nothing(self.folder / ABOUT) as path:
            path.write_text(json.dumps(values | {SUM: _sum(values)}, indent=2) + "\n", encoding="utf-8")

    def add(self, rows: Any, vectors: Floats, keys: IntArray) -> None:
        """One more shard: an Arrow table, unit vectors (rows, dim), keys (rows,)."""
        from pyarrow import parquet  # slow to import

        number = len(self.about.shards)
        with self._written(self._file("rows", number, "parquet")) as path:
            parquet.write_table(rows, path, write_page_checksum=True)
        for kind, array in (("vectors", vectors), ("keys", keys)):
            with self._written(self._file(kind, number, "npy")) as path, path.open("wb") as file:
                np.save(file, array)
        self.about.shards.append(len(vectors))
        self.write()

    @property
    def schema(self) -> Any:
        """Of the rows; None while there are none."""
        from pyarrow import parquet

        if not self.about.shards:
            return None
        with self._whole(file := self._file("rows", 0, "parquet")):
            return parquet.read_schema(file)

    def keys(self) -> Counter[int]:
        """How often each row is there."""
        found: Counter[int] = Counter()
        for number in range(len(self.about.shards)):
            found.update(self._array("keys", number).tolist())
        return found

    def vectors(self) -> Iterator[tuple[int, Floats]]:
        """The vectors of each shard, memory-mapped, and the number of its first row."""
        start = 0
        for number, rows in enumerate(self.about.shards):
            yield start, self._array("vectors", number)
            start += rows

    def table(self, columns: Sequence[str] | None = None) -> Any:
        """All rows, or some columns of them."""
        import pyarrow

        return pyarrow.concat_tables([self._rows(number, columns) for number in range(len(self.about.shards))])

    def rows(self, numbers: Sequence[int]) -> list[dict[str, Any]]:
        """Some rows, in the order of their numbers; only their shards are read."""
        ends = np.cumsum(self.about.shards)
        found: dict[int, dict[str, Any]] = {}
        for number in sorted({int(np.searchsorted(ends, one, side="right")) for one in numbers}):
            begins = int(ends[number]) - self.about.shards[number]
            mine = [one for one in dict.fromkeys(numbers) if begins <= one < ends[number]]
            table = self._rows(number)
            found.update(zip(mine, table.take([one - begins for one in mine]).to_pylist(), strict=True))
        return [found[one] for one in numbers]

    def build_graph(self) -> None:
        """Puts rows into the graph that it does not have yet."""
        graph, has = self._graph(), 0
        if self.about.in_graph:
            try:
                with self._whole(self.folder / GRAPH):
                    graph.load(str(self.folder / GRAPH))
                has = self.about.in_graph
            except IsotropeError:  # damaged, or from a process that was killed before it said so in index.json
                graph = self._graph()
        for start, vectors in self.vectors():
            there = np.flatnonzero(np.asarray(vectors).any(axis=1))
            new = there[there + start >= has]
            if len(new):
                graph.add(new + start, np.asarray(vectors[new]), threads=1)  # one thread: the same graph each time
        with self._written(self.folder / GRAPH) as path:
            graph.save(str(path))
        self.about.in_graph = len(self)
        self.write()

    def graph(self) -> Any:
        """The graph, on disk; None where it is missing or lacks rows."""
        if self.about.in_graph != len(self) or not (self.folder / GRAPH).is_file():
            return None
        graph = self._graph()
        with self._whole(self.folder / GRAPH):
            graph.view(str(self.folder / GRAPH))
        return graph

    def _graph(self) -> Any:
        from usearch.index import Index  # slow to import

        options = {"connectivity": EDGES, "expansion_add": CANDIDATES, "expansion_search": CANDIDATES}
        return Index(ndim=self.about.dim, metric="ip", dtype="f32", **options)

    def _rows(self, number: int, columns: Sequence[str] | None = None) -> Any:
        """Those of a shard, as an Arrow table. Its pages have checksums."""
        from pyarrow import parquet

        with self._whole(file := self._file("rows", number, "parquet")):
            table = parquet.read_table(file, columns=columns, partitioning=None, page_checksum_verification=True)
            if len(table) != self.about.shards[number]:
                raise ValueError(len(table))
        return table

    def _array(self, kind: str, number: int) -> Any:
        """One of a shard's arrays, memory-mapped."""
        with self._whole(file := self._file(kind, number, "npy")):
            array = np.load(file, mmap_mode="r")
            if array.shape != (self.about.shards[number], *([self.about.dim] if kind == "vectors" else [])):
                raise ValueError(array.shape)
        return array

    @contextmanager
    def _written(self, file: Path) -> Iterator[Path]:
        """A path to write a file to, whose checksum is kept."""
        with whole_or_nothing(file) as path:
            yield path
            self.about.sums[file.name] = file_digest(path)

    @contextmanager
    def _whole(self, file: Path) -> Iterator[None]:
        """One line where a file is missing, cut short or garbled, or not the one that was written."""
        try:
            if file.name in self.about.sums and file.name not in self._checked:
                if file_digest(file) != self.about.sums[file.name]:
                    raise ValueError("not the file that was written")
                self._checked.add(file.name)
            yield
        except (OSError, ValueError, EOFError, RuntimeError) as error:  # pyarrow's are the first two
            raise IsotropeError(
                f"{self.folder}: {file.name} is damaged ({reason(error)}); force=True makes the index again",
                argument="force=True",
            ) from error

    def _file(self, kind: str, number: int, ending: str) -> Path:
        return self.folder / f"{kind}-{number:05d}.{ending}"


def _sum(values: dict[str, Any]) -> str:
    """Of index.json itself."""
    return digest(json.dumps(values, sort_keys=True)).hex()


def row_keys(batch: Any) -> IntArray:
    """A hash of each row of a record batch, (rows,)."""
    rows = (json.dumps(row, sort_keys=True, default=str, ensure_ascii=False) for row in batch.to_pylist())
    return np.frombuffer(b"".join(digest(row, 8) for row in rows), dtype="<i8")
