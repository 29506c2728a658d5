"""Graded sentence pairs, from a data folder or the Hugging Face Hub."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from isotrope.evaluation.data.places import MissingDataError, data_folder, hub_splits
from isotrope.io.errors import IsotropeError, nearest
from isotrope.text import read_table
from isotrope.text.cells import cell_number
from isotrope.text.files import open_bytes


@dataclass(frozen=True)
class Pairs:
    """Sentence pairs with their gold scores, each pair in a subtask; four lists of one length."""

    sentences1: list[str]
    sentences2: list[str]
    scores: list[float]
    subtask: list[str]

    def only(self, subtask: str) -> Pairs:
        """The pairs of one subtask."""
        return self.rows([i for i, one in enumerate(self.subtask) if one == subtask])

    def rows(self, numbers: Sequence[int]) -> Pairs:
        """Some of the pairs, in the order of their numbers."""
        return Pairs(
            [self.sentences1[i] for i in numbers],
            [self.sentences2[i] for i in numbers],
            [self.scores[i] for i in numbers],
            [self.subtask[i] for i in numbers],
        )

    @property
    def sentences(self) -> list[str]:
        """The distinct sentences of both sides."""
        return list(dict.fromkeys([*self.sentences1, *self.sentences2]))


@dataclass(frozen=True)
class PairSource:
    """Where a set of graded pairs lies, and what divides it into subtasks."""

    name: str
    file: str  # in a data folder, also as .gz; `*` stands for the subtask where each has a file of its own
    hub: str = ""  # data set on the Hugging Face Hub
    subtask: str = ""  # the file's column that names the subtask
    configs: Mapping[str, str] = field(default_factory=dict)  # subtask -> its configuration on the Hub
    split: str = "test"  # the default
    has_splits: bool = True  # whether the file has a column `split`; without one, all of it is `split`
    published: int | None = None  # pairs of `split` that figures are published for, where the Hub may have others


def load_source(source: PairSource, part: str = "", *, data: Path | None = None, split: str | None = None) -> Pairs:
    """The pairs of a source: from the folder `data` (else `ISOTROPE_DATA`) if its file is there, else from the Hub.

    `part` selects one subtask. STS12 to STS16 name no subtasks on the Hub, so the whole is one there (`all` is exact,
    `mean` and `wmean` equal it). What the Hub has of SICK-R is all its pairs under the name `test`: figures on them
    would compare with no published one, so they are refused.
    """
    rows = _from_files(source, part, data) or _as_published(source, _from_hub(source, part))
    if part:
        rows = _only(rows, "subtask", part, source)
    return _pairs(_only(rows, "split", split or source.split, source))


def _pairs(rows: list[_Row]) -> Pairs:
    return Pairs(
        sentences1=[row.sentence1 for row in rows],
        sentences2=[row.sentence2 for row in rows],
        scores=[row.score for row in rows],
        subtask=[row.subtask for row in rows],
    )


class _Row(NamedTuple):
    split: str
    subtask: str
    score: float
    sentence1: str
    sentence2: str


def _only(rows: list[_Row], column: str, wanted: str, source: PairSource) -> list[_Row]:
    chosen = [row for row in rows if getattr(row, column) == wanted]
    if not chosen:
        there = dict.fromkeys(getattr(row, column) for row in rows)
        raise _absent(source, column, wanted, there)
    return chosen


def _absent(source: PairSource, what: str, wanted: str, there: Iterable[str]) -> IsotropeError:
    names = list(there)
    return IsotropeError(
        f"task '{source.name}' has no {what} '{wanted}'{nearest(wanted, names)}; it has: {', '.join(names)}"
    )


# -- from a folder ----------------------------------------------------------------------------------------------------


def _from_files(source: PairSource, part: str, data: Path | None) -> list[_Row]:
    """The rows of the source's files; none where there is no such file."""
    found = _files(source, data_folder(data))
    if "*" in source.file and part:
        if part not in {**found, **source.configs}:
            raise _absent(source, "subtask", part, sorted({**found, **source.configs}))
        found = {part: found[part]} if part in found else {}
    return [row for subtask, path in found.items() for row in _read(source, path, subtask)]


def _files(source: PairSource, folder: Path | None) -> dict[str, Path]:
    """Subtask -> its file; the one file of a task that is not spread over several is under the task's own name."""
    path = Path(folder or "", source.file)
    if folder is None and not path.is_absolute():
        return {}
    before, star, after = path.name.partition("*")
    found: dict[str, Path] = {}
    for ending in ("", ".gz"):
        for file in sorted(path.parent.glob(path.name + ending)):
            subtask = file.name[len(before) : -len(after + ending)] if star else source.name
            found.setdefault(subtask, file)
    return found


def _read(source: PairSource, path: Path, subtask: str) -> Iterator[_Row]:
    needed = ("split", "score") if source.has_splits else ("score",)
    columns = (*needed, *filter(None, [source.subtask]), "sentence1", "sentence2")
    count = 0
    for count, row in enumerate(read_table(path, columns), 1):
        score = cell_number(row["score"])
        if score is None:
            raise IsotropeError(f"{path}: line {_line(path, count)}: the score '{row['score']}' is not a number")
        split = row["split"] if source.has_splits else source.split
        yield _Row(split, row.get(source.subtask, subtask), score, row["sentence1"], row["sentence2"])
    if not count:
        raise IsotropeError(f"{path}: no pairs in it, just a header")


def _line(path: Path, row: int) -> int:
    """The line of the file that holds a row (the header is row 0): blank lines are passed over as rows are read."""
    with open_bytes(path) as stream:
        lines = (number for number, raw in enumerate(stream, 1) if raw.rstrip(b"\r\n"))
        return next(islice(lines, row, None))


# -- from the Hub -----------------------------------------------------------------------------------------------------


def _from_hub(source: PairSource, part: str) -> list[_Row]:
    if part and part not in source.configs:
        raise _absent(source, "subtask", part, source.configs or [f"none on the Hub ({source.hub})"])
    configs: Mapping[str, str | None] = source.configs or {source.name: None}
    wanted = [part] if part else list(configs)
    return [row for subtask in wanted for row in _download(source, subtask, configs[subtask])]


def _as_published(source: PairSource, rows: list[_Row]) -> list[_Row]:
    """Refuses a test set of another size than the one that figures are published for."""
    found = sum(row.split == source.split for row in rows)
    if source.published not in (None, found):
        raise MissingDataError(
            f"task '{source.name}': {source.hub} on the Hub has {found:,} pairs as its {source.split} set, where "
            f"figures are published for {source.published:,}; no {source.file}[.gz] with its splits in a data folder"
        )
    return rows


def _download(source: PairSource, subtask: str, config: str | None) -> Iterator[_Row]:
    splits = hub_splits(source.name, source.file, source.hub, config)
    for name, table in splits.items():
        split = "dev" if name == "validation" else name
        if split != source.split and not source.has_splits:
            continue
        score = "score" if "score" in table.column_names else "similarity_score"
        for count, row in enumerate(table, 1):
            value = cell_number(row[score])
            if value is None:
                raise IsotropeError(f"{source.hub}: {name}: row {count}: the score '{row[score]}' is not a number")
            yield _Row(split, subtask, value, row["sentence1"], row["sentence2"])
