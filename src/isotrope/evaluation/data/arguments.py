"""Pairs of arguments graded by their similarity (paper 3, appendix B).

Two corpora are read. **AFS** (Misra et al. 2016), the paper's: a file `ArgPairs_DP.csv`, `ArgPairs_GC.csv`,
`ArgPairs_GM.csv` for each of three topics, graded from 0 to 5. **UKP ASPECT** (Reimers et al. 2019): one table of 28
topics, in which a pair is of different topics or can't be decided (DTORCD), of no (NS), some (SS) or high similarity
(HS). Reimers et al. count the first two as dissimilar and the others as similar, hence the grades 0, 0, 1 and 2.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from isotrope.evaluation.data.pairs import Pairs
from isotrope.evaluation.data.places import MissingDataError, data_folder
from isotrope.io.errors import IsotropeError
from isotrope.text import read_table
from isotrope.text.cells import cell_number
from isotrope.text.files import open_bytes

AFS = "ArgPairs_*.csv"
AFS_TOPICS = {"DP": "death penalty", "GC": "gun control", "GM": "gay marriage"}
ASPECT = "ukp_aspect.tsv"
ASPECT_GRADES = {"DTORCD": 0.0, "NS": 0.0, "SS": 1.0, "HS": 2.0}
FOLDER = "argsim"  # of a data folder


def load_arguments(*, data: Path | None = None, path: Path | None = None) -> Pairs:
    """The pairs, each under its topic, of the file or folder `path`; else of `argsim` in the data folder, AFS first."""
    return read_arguments(argument_files(data=data, path=path))


def corpus_name(files: Sequence[Path]) -> str:
    """`AFS` or `UKP ASPECT`."""
    return "AFS" if _is_afs(files[0]) else "UKP ASPECT"


def argument_files(*, data: Path | None = None, path: Path | None = None) -> list[Path]:
    """The files of a corpus: those of AFS, or the one of UKP ASPECT."""
    if path is not None and not path.is_dir():
        return [path]
    folder = path or Path(data_folder(data) or "", FOLDER)
    found = sorted(folder.glob(AFS)) or [*folder.glob(ASPECT), *folder.glob(f"{ASPECT}.gz")][:1]
    if not found:
        raise MissingDataError(
            f"task 'arguments': neither {AFS} (AFS) nor {ASPECT}[.gz] (UKP ASPECT) in "
            f"{path or f'{FOLDER} of a data folder'}"
        )
    return found


def read_arguments(files: Sequence[Path]) -> Pairs:
    """Graded pairs, each under its topic."""
    rows = [row for file in files for row in (_read_afs(file) if _is_afs(file) else _read_aspect(file))]
    if not rows:
        raise IsotropeError(f"{files[0]}: no pairs in it, just a header")
    topics, scores, first, second = (list(column) for column in zip(*rows, strict=True))
    return Pairs(first, second, scores, topics)


class _Row(NamedTuple):
    topic: str
    score: float
    sentence1: str
    sentence2: str


def _is_afs(file: Path) -> bool:
    return file.suffix == ".csv"


def _read_afs(file: Path) -> Iterator[_Row]:
    """The score is the first of the columns, the sentences are the last two; between them are ids."""
    code = file.stem.removeprefix(AFS.partition("*")[0])
    topic = AFS_TOPICS.get(code, code)
    with open_bytes(file) as stream:
        raw = stream.read()
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:  # as it was published
        text = raw.decode("cp1252", errors="replace")
    reader = csv.reader(text.splitlines(keepends=True))
    next(reader)
    for fields in filter(None, reader):
        where = f"{file}: line {reader.line_num}"
        if len(fields) < 3:
            raise IsotropeError(f"{where}: {len(fields)} fields; a score comes first, and two sentences last")
        yield _Row(topic, _number(fields[0], where), fields[-2].strip(), fields[-1].strip())


def _number(text: str, where: str) -> float:
    number = cell_number(text)
    if number is None:
        raise IsotropeError(f"{where}: the score '{text}' is not a number")
    return number


def _read_aspect(file: Path) -> Iterator[_Row]:
    for number, row in enumerate(read_table(file, ("topic", "label")), 1):
        one, two = (f"sentence{'_' * ('sentence_1' in row)}{i}" for i in (1, 2))  # the corpus itself has an underscore
        if one not in row or two not in row:
            raise IsotropeError(f"{file}: no columns 'sentence1' and 'sentence2'; it has: {', '.join(row)}")
        if row["label"] not in ASPECT_GRADES:
            known = ", ".join(ASPECT_GRADES)
            raise IsotropeError(f"{file}: row {number}: unknown label '{row['label']}'; it is one of {known}")
        yield _Row(row["topic"], ASPECT_GRADES[row["label"]], row[one], row[two])
