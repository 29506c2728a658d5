"""Sentences, or pairs of them, with a class each: from a data folder, else from the Hugging Face Hub."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from isotrope.evaluation.pairs import data_folder, hub_splits
from isotrope.io.errors import IsotropeError
from isotrope.text import read_table

WHOLE = "all"  # the split of a set that has none


@dataclass(frozen=True)
class LabelledTask:
    """A set of classified sentences or pairs: where its data lie, and how splits and columns are called there."""

    name: str
    file: str  # in a data folder, also as .gz
    hub: str  # data set on the Hugging Face Hub
    hub_splits: Mapping[str, str]  # split there -> split here; others are left out
    splits: Mapping[str, str] = field(default_factory=dict)  # the same for the file; none: it has no column `split`
    columns: tuple[str, ...] = ("text",)
    config: str | None = None  # on the Hub
    hub_names: Mapping[str, str] = field(default_factory=dict)  # column -> its name on the Hub


class Example(NamedTuple):
    """One sentence or two, and the name of their class."""

    split: str
    label: str
    texts: tuple[str, ...]


@dataclass(frozen=True)
class Labelled:
    """The rows of a task; `source` is the file or the data set on the Hub, for messages."""

    source: str
    examples: list[Example]

    @property
    def classes(self) -> list[str]:
        """In alphabetical order, in which they are numbered."""
        return sorted({example.label for example in self.examples})

    @property
    def sentences(self) -> list[str]:
        """The distinct ones."""
        return list(dict.fromkeys(text for example in self.examples for text in example.texts))

    def part(self, split: str) -> list[Example]:
        """The rows of one split."""
        return [example for example in self.examples if example.split == split]

    def check(self, *splits: str, each: int = 1) -> None:
        """Refuses what no classifier can be trained on: a split that is missing, a class alone or too rare in one."""
        there = dict.fromkeys(example.split for example in self.examples)
        for split in splits:
            if split not in there:
                raise IsotropeError(f"{self.source}: no split '{split}'; it has: {', '.join(there)}")
        first = Counter(example.label for example in self.part(splits[0]))
        rows = "row" if splits[0] == WHOLE else f"row of '{splits[0]}'"
        if len(first) == 1:
            raise IsotropeError(f"{self.source}: every {rows} has the label '{next(iter(first))}'; two are needed")
        rarest = min(first, key=lambda label: first[label])
        if first[rarest] < each:
            raise IsotropeError(
                f"{self.source}: just {first[rarest]} rows have the label '{rarest}'; the folds need {each} or more"
            )


def load_labelled(task: LabelledTask, data: Path | None = None) -> Labelled:
    """The rows of a task: from the folder `data` (else `ISOTROPE_DATA`) where its file is there, else from the Hub."""
    path = labelled_file(task, data)
    source = str(path or " ".join(filter(None, (task.hub, task.config))))
    examples = list(_read(task, path) if path else _download(task))
    if not examples:
        wanted = task.splits if path else task.hub_splits
        raise IsotropeError(f"{source}: no rows in it" + (f" of the splits {', '.join(wanted)}" if wanted else ""))
    return Labelled(source, examples)


def labelled_file(task: LabelledTask, data: Path | None = None) -> Path | None:
    """Where a task's file is, if it is anywhere."""
    folder = data_folder(data)
    files = [Path(folder, task.file + ending) for ending in ("", ".gz")] if folder else []
    return next((file for file in files if file.is_file()), None)


def _read(task: LabelledTask, path: Path) -> Iterator[Example]:
    columns = ("split", "label", *task.columns) if task.splits else ("label", *task.columns)
    for row in read_table(path, columns):
        split = task.splits.get(row["split"]) if task.splits else WHOLE
        if split is not None:
            yield Example(split, row["label"], tuple(row[column] for column in task.columns))


def _download(task: LabelledTask) -> Iterator[Example]:
    splits = hub_splits(task.name, task.file, task.hub, task.config)
    label, *columns = (task.hub_names.get(column, column) for column in ("label", *task.columns))
    for name, table in splits.items():
        for row in table if name in task.hub_splits else ():
            yield Example(task.hub_splits[name], str(row[label]), tuple(row[column] for column in columns))
