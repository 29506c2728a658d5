"""Graded sentence pairs: which tasks there are, and where their data are found."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from isotrope.io.errors import IsotropeError, nearest
from isotrope.text import bundled_pairs_path, read_table
from isotrope.text.files import open_bytes


class MissingDataError(IsotropeError):
    """A task that there is, whose data are neither in a folder nor on the Hub."""


@dataclass(frozen=True)
class Pairs:
    """Sentence pairs with their gold scores, each pair in a subtask; four lists of one length."""

    sentences1: list[str]
    sentences2: list[str]
    scores: list[float]
    subtask: list[str]

    def only(self, subtask: str) -> Pairs:
        """The pairs of one subtask."""
        columns = zip(self.sentences1, self.sentences2, self.scores, self.subtask, strict=True)
        rows = [row for row in columns if row[3] == subtask]
        return Pairs(
            [row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows], [subtask] * len(rows)
        )


@dataclass(frozen=True)
class Task:
    """A set of graded pairs: where its data lie, and what divides them into subtasks."""

    name: str
    file: str  # in a data folder, also as .gz; `*` stands for the subtask where each has a file of its own
    hub: str  # data set on the Hugging Face Hub
    subtask: str = ""  # the file's column that names the subtask
    configs: Mapping[str, str] = field(default_factory=dict)  # subtask -> its configuration on the Hub
    split: str = "test"  # measured unless another is asked for
    has_splits: bool = True  # whether the file has a column `split`; without one, all of it is `split`


# The Hub has neither track 4b nor this order of the languages; what else it has there is not SemEval's.
_STS17_TRACKS = {
    "track1.ar-ar": "ar-ar",
    "track2.ar-en": "en-ar",
    "track3.es-es": "es-es",
    "track4a.es-en": "es-en",
    "track5.en-en": "en-en",
    "track6.tr-en": "en-tr",
}
_LANGUAGES = {language: language for language in ("de", "en", "es", "fr", "it", "nl", "pl", "pt", "ru", "zh")}

TASKS: dict[str, Task] = {
    task.name: task
    for task in (
        Task("bundled", str(bundled_pairs_path()), hub=""),  # absolute: found whatever the data folder is
        Task("stsb", "stsb/stsb.tsv", "mteb/stsbenchmark-sts"),
        *(
            Task(f"sts{year}", f"sts/sts{year}.tsv", f"mteb/sts{year}-sts", subtask="subtask", has_splits=False)
            for year in range(12, 17)
        ),
        Task("sickr", "sick/sick.tsv", "mteb/sickr-sts"),
        Task("sts17", "sts17/sts17.tsv", "mteb/sts17-crosslingual-sts", "track", _STS17_TRACKS, has_splits=False),
        Task("stsb-multi", "stsb_multi/stsb_*.tsv", "PhilipMay/stsb_multi_mt", configs=_LANGUAGES),
        Task("cnsd-stsb", "zh/cnsd_stsb.tsv", "mteb/STSB"),  # the Chinese STS-B of paper 4
    )
}


def load_task(name: str, *, data: Path | None = None, split: str | None = None) -> Pairs:
    """The pairs of a task: from the folder `data` (else `ISOTROPE_DATA`) where its file is there, else from the Hub.

    `sts17:track5.en-en` or `stsb-multi:de` is one subtask alone. Two sets differ on the Hub: STS12 to STS16 name no
    subtasks there, so the whole is one (`all` is exact, `mean` and `wmean` equal it); and SICK-R there is all 9,927
    pairs under the name `test`, where the published figures are for the 4,927 of the file's split `test`.
    """
    base, _, part = name.partition(":")
    if base not in TASKS:
        raise IsotropeError(f"unknown task '{base}'{nearest(base, TASKS)}; choose from {', '.join(TASKS)}")
    task = TASKS[base]
    rows = _from_files(task, part, data) or _from_hub(task, part)
    if part:
        rows = _only(rows, "subtask", part, task)
    return _pairs(_only(rows, "split", split or task.split, task))


def read_pairs(path: Path) -> Pairs:
    """The pairs of a user's own table: columns `score`, `sentence1`, `sentence2`, all of its rows."""
    return _pairs(list(_read(Task(path.name, str(path), hub="", has_splits=False), path, "")))


def _pairs(rows: list[_Row]) -> Pairs:
    return Pairs(
        sentences1=[row.sentence1 for row in rows],
        sentences2=[row.sentence2 for row in rows],
        scores=[row.score for row in rows],
        subtask=[row.subtask for row in rows],
    )


def data_folder(data: Path | None = None) -> Path | None:
    """The folder of data sets: the one given, else the one in `ISOTROPE_DATA`, else none."""
    given = data or os.environ.get("ISOTROPE_DATA")
    if not given:
        return None
    folder = Path(given).expanduser()
    if not folder.is_dir():
        raise IsotropeError(f"{folder}: no such folder of data sets; correct --data DIR or ISOTROPE_DATA")
    return folder


class _Row(NamedTuple):
    split: str
    subtask: str
    score: float
    sentence1: str
    sentence2: str


def _only(rows: list[_Row], column: str, wanted: str, task: Task) -> list[_Row]:
    chosen = [row for row in rows if getattr(row, column) == wanted]
    if not chosen:
        there = dict.fromkeys(getattr(row, column) for row in rows)
        raise _absent(task, column, wanted, there)
    return chosen


def _absent(task: Task, what: str, wanted: str, there: Iterable[str]) -> IsotropeError:
    names = list(there)
    return IsotropeError(
        f"task '{task.name}' has no {what} '{wanted}'{nearest(wanted, names)}; it has: {', '.join(names)}"
    )


# -- from a folder ----------------------------------------------------------------------------------------------------


def _from_files(task: Task, part: str, data: Path | None) -> list[_Row]:
    """The rows of the task's files; none where there is no such file."""
    found = _files(task, data_folder(data))
    if "*" in task.file and part:
        if part not in {**found, **task.configs}:
            raise _absent(task, "subtask", part, sorted({**found, **task.configs}))
        found = {part: found[part]} if part in found else {}
    return [row for subtask, path in found.items() for row in _read(task, path, subtask)]


def _files(task: Task, folder: Path | None) -> dict[str, Path]:
    """Subtask -> its file; the one file of a task that is not spread over several is under the task's own name."""
    path = Path(folder or "", task.file)
    if folder is None and not path.is_absolute():
        return {}
    before, star, after = path.name.partition("*")
    found: dict[str, Path] = {}
    for ending in ("", ".gz"):
        for file in sorted(path.parent.glob(path.name + ending)):
            subtask = file.name[len(before) : -len(after + ending)] if star else task.name
            found.setdefault(subtask, file)
    return found


def _read(task: Task, path: Path, subtask: str) -> Iterator[_Row]:
    needed = ("split", "score") if task.has_splits else ("score",)
    columns = (*needed, *filter(None, [task.subtask]), "sentence1", "sentence2")
    count = 0
    for count, row in enumerate(read_table(path, columns), 1):
        score = _number(row["score"])
        if score is None:
            raise IsotropeError(f"{path}: line {_line(path, count)}: the score '{row['score']}' is not a number")
        split = row["split"] if task.has_splits else task.split
        yield _Row(split, row.get(task.subtask, subtask), score, row["sentence1"], row["sentence2"])
    if not count:
        raise IsotropeError(f"{path}: no pairs in it, just a header")


def _line(path: Path, row: int) -> int:
    """The line of the file that holds a row (the header is row 0): blank lines are passed over as rows are read."""
    with open_bytes(path) as stream:
        lines = (number for number, raw in enumerate(stream, 1) if raw.rstrip(b"\r\n"))
        return next(islice(lines, row, None))


def _number(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


# -- from the Hub -----------------------------------------------------------------------------------------------------


def _from_hub(task: Task, part: str) -> list[_Row]:
    if part and part not in task.configs:
        raise _absent(task, "subtask", part, task.configs or [f"none on the Hub ({task.hub})"])
    configs: Mapping[str, str | None] = task.configs or {task.name: None}
    wanted = [part] if part else list(configs)
    return [row for subtask in wanted for row in _download(task, subtask, configs[subtask])]


def _download(task: Task, subtask: str, config: str | None) -> Iterator[_Row]:
    splits = hub_splits(task.name, task.file, task.hub, config)
    for name, table in splits.items():
        split = "dev" if name == "validation" else name
        if split != task.split and not task.has_splits:
            continue
        score = "score" if "score" in table.column_names else "similarity_score"
        for number, row in enumerate(table, 1):
            value = _number(row[score])
            if value is None:
                raise IsotropeError(f"{task.hub}: {name}: row {number}: the score '{row[score]}' is not a number")
            yield _Row(split, subtask, value, row["sentence1"], row["sentence2"])


def hub_splits(task: str, file: str, hub: str, config: str | None) -> Mapping[str, Any]:
    """The tables of a data set on the Hub, by split; `file` is where a task's data would have been at hand."""
    from datasets import load_dataset

    try:
        _ask_hub(hub)
        splits: Mapping[str, Any] = load_dataset(hub, config)
    except Exception as error:
        reason = " ".join(str(error).split())[:120]
        raise MissingDataError(
            f"task '{task}': no {file}[.gz] in a data folder, and the Hugging Face Hub gave no {hub} "
            f"(no network? {reason}); give --data DIR or set ISOTROPE_DATA"
        ) from error
    return splits


def _ask_hub(name: str) -> None:
    """Fails at once without a network, where `load_dataset` would try again for half a minute first."""
    from huggingface_hub import HfApi, is_offline_mode, try_to_load_from_cache

    if not is_offline_mode() and try_to_load_from_cache(name, "README.md", repo_type="dataset") is None:
        HfApi().dataset_info(name, timeout=10)
