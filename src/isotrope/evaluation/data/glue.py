"""GLUE's tasks as paper 1 divides them.

GLUE keeps its test labels to itself. So the first tenth of its validation set chooses the epoch, and the rest is
tested on. Two files are not quite GLUE's: one of MRPC has the split `test`, which then stands for the validation set;
and where there is only the validation set of QNLI, every second row of it is trained on.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from isotrope.evaluation.data.labelled import WHOLE, Example, Labelled, LabelledSource, labelled_file, load_labelled
from isotrope.io.errors import IsotropeError, nearest

_HUB = {"train": "train", "validation": "dev"}
_FILE = {"train": "train", "dev": "dev"}
_PAIR = ("sentence1", "sentence2")
_SENTENCE = {"text": "sentence"}
_COLA = {"train": "train", "in_domain_dev": "dev", "out_of_domain_dev": "dev"}


@dataclass(frozen=True)
class GlueSource:
    """Where a task lies; `validation` is a file of its validation rows alone, used where there are no others."""

    rows: LabelledSource
    file_note: str = ""  # what is not as in GLUE where the rows come from a file
    phrases: int = 0  # GLUE's training rows, where those of a file may be others
    validation: LabelledSource | None = None


def _source(
    name: str,
    file: str,
    columns: tuple[str, ...],
    *,
    splits: dict[str, str] = _FILE,
    names: dict[str, str] | None = None,
) -> LabelledSource:
    return LabelledSource(name, file, "nyu-mll/glue", _HUB, splits, columns, name, names or {})


GLUE_TASKS = {
    "qnli": GlueSource(
        _source("qnli", "glue/qnli.tsv", ("question", "sentence")),
        validation=LabelledSource("qnli", "glue/qnli_dev.tsv", "", {}, columns=("question", "sentence")),
    ),
    "sst2": GlueSource(_source("sst2", "transfer/sst2_sentences.tsv", ("text",), names=_SENTENCE), phrases=67_349),
    "cola": GlueSource(_source("cola", "glue/cola.tsv", ("text",), splits=_COLA, names=_SENTENCE)),
    "mrpc": GlueSource(
        _source("mrpc", "transfer/mrpc.tsv", _PAIR, splits={"train": "train", "test": "dev"}),
        file_note="the file does not have GLUE's validation set; its split 'test' is used instead",
    ),
    "rte": GlueSource(_source("rte", "glue/rte.tsv", _PAIR)),
}


class Glue(NamedTuple):
    """The rows of a task as paper 1 divides them; `note` says what is not as in the paper."""

    classes: list[str]
    train: list[Example]
    dev: list[Example]
    test: list[Example]
    note: str


def load_glue(task: str, *, data: Path | None = None) -> Glue:
    """The rows of a task: from the folder `data` (else `ISOTROPE_DATA`) if its file is there, else from the Hub."""
    if task not in GLUE_TASKS:
        known = ", ".join(GLUE_TASKS)
        raise IsotropeError(f"unknown GLUE task '{task}'{nearest(task, GLUE_TASKS)}; choose from {known}")
    source = GLUE_TASKS[task]
    in_file = labelled_file(source.rows, data)
    if not in_file and source.validation and labelled_file(source.validation, data):
        return _divide(*_halves(load_labelled(source.validation, data)))
    labelled = load_labelled(source.rows, data)
    return _divide(labelled, (source.file_note or _other_rows(source, labelled)) if in_file else "")


def _other_rows(source: GlueSource, labelled: Labelled) -> str:
    """What is said where a file has not as many training rows as GLUE."""
    rows = len(labelled.part("train"))
    if rows == source.phrases or not source.phrases:
        return ""
    return (
        f"{labelled.source} has {rows:,} training rows, whole sentences; GLUE trains on {source.phrases:,} phrases of "
        "them, so the figure can't be compared with published ones"
    )


def _halves(labelled: Labelled) -> tuple[Labelled, str]:
    """A validation set alone, of which every second row is for training."""
    examples = [row._replace(split="dev" if i % 2 else "train") for i, row in enumerate(labelled.part(WHOLE))]
    note = f"{labelled.source} has no training rows: every second row is trained on, so the figure can't be compared"
    return Labelled(labelled.source, examples), note


def _divide(labelled: Labelled, note: str) -> Glue:
    labelled.check("train", "dev")
    validation = labelled.part("dev")
    if len(validation) < 10:
        raise IsotropeError(f"{labelled.source}: {len(validation)} validation rows; a tenth of them needs 10 or more")
    cut = len(validation) // 10
    return Glue(labelled.classes, labelled.part("train"), validation[:cut], validation[cut:], note)
