"""The corpus of a run: one memory-mapped Arrow file, whatever the rows came from and however many they are."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from isotrope.io.atomic import whole_or_nothing
from isotrope.io.errors import IsotropeError
from isotrope.io.hashes import digest, hasher
from isotrope.text.arrays import IntArray, growing_table, open_table
from isotrope.text.files import Row
from isotrope.text.sources import Source, kind_of, matching_rows, shown, text_columns
from isotrope.text.survey import Survey
from isotrope.text.units import Units

ROWS, KEYS, ABOUT = "corpus.arrow", "keys.npy", "corpus.json"
CHUNK_ROWS = 4096  # written at a time
SORTED_KEYS = 2**21  # that are in memory together, about
LABELS = {"entailment": 0, "neutral": 1, "contradiction": 2, "0": 0, "1": 1, "2": 2}
NO_GOLD_LABEL = ("-", "-1")  # what SNLI writes where its annotators did not agree


@dataclass(frozen=True)
class CorpusCounts:
    """Rows that are in the corpus, rows that were left out, how many different texts the first column has, and how many
    documents were split into these rows.
    """

    rows: int
    blank: int
    unlabelled: int
    distinct: int
    documents: int = 0


class Corpus:
    """Rows by number, from disk. `keys` (rows, text columns) has a 64-bit hash of each text: equal text, equal key."""

    def __init__(self, folder: Path) -> None:
        from datasets import Dataset  # slow to import

        about = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
        self.folder = folder
        self.columns: tuple[str, ...] = tuple(about["columns"])
        self.sources: tuple[str, ...] = tuple(about["sources"])  # those that had the columns
        self.fingerprint: str = about["fingerprint"]
        self.counts = CorpusCounts(**about["counts"])
        self.keys: IntArray = open_table(folder / KEYS)
        self._rows: Any = Dataset.from_file(str(folder / ROWS))

    def __len__(self) -> int:
        return self.counts.rows

    def __reduce__(self) -> tuple[Callable[[Path], Corpus], tuple[Path]]:
        """Another process opens the files itself; a pickled memory map would carry its whole content."""
        return Corpus, (self.folder,)

    def __str__(self) -> str:
        """`the corpus (wiki.txt, news.txt.gz)`."""
        return f"the corpus ({shown(self.sources)})"

    def rows(self, indices: Sequence[int] | IntArray) -> dict[str, list[Any]]:
        """The rows' values, column by column, in the order of the indices."""
        found: dict[str, list[Any]] = self._rows[indices]
        return found


def build_corpus(
    sources: Sequence[Source],
    columns: tuple[str, ...],
    folder: Path,
    *,
    column: str | None = None,
    units: Units | None = None,
    survey: Survey | None = None,
) -> Corpus:
    """Streams the sources' rows, once and in constant memory, into `folder`, and opens them there.

    A source is a file, `-`, `hub:org/name[:split]`, a table of another library, or an iterable of strings or of rows;
    those that lack the columns are passed over. `column` is what tables call `text`. Rows with a blank or missing
    field or without a gold label are left out, and counted. `units` may split texts into sentences, where `text` is the
    only column; `survey` sees the rows before.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ABOUT).unlink(missing_ok=True)  # it is written last: without it there is no corpus
    used = []
    with whole_or_nothing(folder / ROWS) as path, growing_table(folder / KEYS, len(text_columns(columns))) as add_keys:
        with _Writer(path, columns, add_keys) as writer:
            for name, rows in matching_rows(sources, columns, column):
                used.append(name)
                rows = survey.rows_of(rows, text_columns(columns)) if survey else rows
                for number, row in enumerate(units.rows(name, rows) if units else rows, 1):
                    writer.add(row, name, number)
        if not writer.rows:
            raise IsotropeError(
                f"{shown(used)}: no {kind_of(columns)} left: {writer.blank} rows with a blank field, "
                f"{writer.unlabelled} without a gold label"
            )
    distinct, documents = _distinct(open_table(folder / KEYS)[:, 0]), units.documents if units else 0
    counts = CorpusCounts(writer.rows, writer.blank, writer.unlabelled, distinct, documents)
    about = {"columns": columns, "sources": used, "fingerprint": writer.fingerprint, "counts": asdict(counts)}
    about |= {"survey": survey.as_dict()} if survey else {}
    with whole_or_nothing(folder / ABOUT) as path:
        path.write_text(json.dumps(about, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return Corpus(folder)


def open_corpus(folder: Path) -> Corpus:
    """A corpus that was built before."""
    if not (folder / ABOUT).is_file():
        raise IsotropeError(f"{folder}: no corpus in it, or an incomplete one; build it again")
    return Corpus(folder)


class _Writer:
    """Checks rows and writes them chunk by chunk; counts and hashes as they pass."""

    def __init__(self, path: Path, columns: tuple[str, ...], add_keys: Callable[[IntArray], None]) -> None:
        import pyarrow  # slow to import

        self.texts, self.labelled = text_columns(columns), "label" in columns
        kinds = {column: pyarrow.int64() if column == "label" else pyarrow.string() for column in columns}
        self.schema: Any = pyarrow.schema(kinds)
        self.record_batch: Any = pyarrow.RecordBatch.from_pydict
        self.file: Any = pyarrow.OSFile(str(path), "wb")
        self.stream: Any = pyarrow.ipc.new_stream(self.file, self.schema)
        self.add_keys = add_keys
        self.rows = self.blank = self.unlabelled = 0
        self.hash = hasher()
        self.hash.update("\t".join(columns).encode())
        self.chunk: dict[str, list[Any]] = {column: [] for column in columns}
        self.digests: list[bytes] = []

    def __enter__(self) -> _Writer:
        return self

    def __exit__(self, *error: object) -> None:
        with self.file, self.stream:
            if error[0] is None:
                self._flush()

    @property
    def fingerprint(self) -> str:
        """Of all rows so far, in their order."""
        return self.hash.hexdigest()

    def add(self, row: Row, name: str, number: int) -> None:
        """One more row, number `number` of the source `name`."""
        texts = [row[column] for column in self.texts]
        label = _word(row["label"]) if self.labelled else "0"
        if not label or not all(texts):
            self.blank += 1
            return
        if label in NO_GOLD_LABEL:
            self.unlabelled += 1
            return
        if self.labelled:
            self.chunk["label"].append(_label(label, name, number))
        for column, text in zip(self.texts, texts, strict=True):
            self.chunk[column].append(text)
            self.digests.append(digest(text, 8))
        self.rows += 1
        if self.rows % CHUNK_ROWS == 0:
            self._flush()

    def _flush(self) -> None:
        keys = np.frombuffer(b"".join(self.digests), dtype="<i8").reshape(-1, len(self.texts))
        self.add_keys(keys)
        labels = np.array(self.chunk["label"], dtype="<i8")[:, None] if self.labelled else keys[:, :0]
        self.hash.update(np.hstack([keys, labels]).tobytes())
        self.stream.write_batch(self.record_batch(self.chunk, schema=self.schema))
        for values in (*self.chunk.values(), self.digests):
            values.clear()


def _word(label: Any) -> str:
    return "" if label is None else str(label).strip().lower()


def _label(word: str, name: str, number: int) -> int:
    if word not in LABELS:
        raise IsotropeError(
            f"{name}: row {number}: label '{word:.40}' is none of entailment, neutral, contradiction (or 0, 1, 2)"
        )
    return LABELS[word]


def _distinct(keys: IntArray) -> int:
    """How many different keys (rows,) there are, a part of them at a time: memory stays the same for any number."""
    parts = len(keys) // SORTED_KEYS + 1
    blocks = [keys[start : start + SORTED_KEYS] for start in range(0, len(keys), SORTED_KEYS)]
    distinct = 0
    for part in range(parts):
        ordered = np.sort(np.concatenate([block[block % parts == part] for block in blocks]))
        distinct += int(np.count_nonzero(np.diff(ordered))) + min(len(ordered), 1)
    return distinct
