"""Sentences, or pairs of them, with a class each: from a data folder, else from the Hugging Face Hub."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from isotrope.evaluation.data.places import data_file, hub_splits
from isotrope.io.errors import IsotropeError
from isotrope.text import read_table

WHOLE = "all"  # the split of a set without splits


@dataclass(frozen=True)
class LabelledSource:
    """Where a set of classified sentences or pairs lies, and what its splits and columns are called there."""

    name: str
    file: str  # in a data folder, also as .gz
    hub: str  # data set on the Hugging Face Hub
    hub_splits: Mapping[str, str]  # split there -> split here; others are left out
    splits: Mapping[str, str] = field(default_factory=dict)  # the same for the file; none: it has no column `split`
    columns: tuple[str, ...] = ("text",)
    config: str | None = None  # on the Hub
    hub_names: Mapping[str, str] = field(default_factory=dict)  # column -> its name on the Hub

    @property
    def needed(self) -> list[str]:
        """The splits that it must have, the one that is trained on first."""
        return [split for split in (WHOLE, "train", "dev", "test") if split in self.hub_splits.values()]


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
        """Refuses what no classifier can be trained on: a missing split, a single class, a class that is too rare."""
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


def load_labelled(source: LabelledSource, data: Path | None = None) -> Labelled:
    """The rows of a source: from the folder `data` (else `ISOTROPE_DATA`) if its file is there, else from the Hub."""
    path = labelled_file(source, data)
    name = str(path or " ".join(filter(None, (source.hub, source.config))))
    examples = list(_read(source, path) if path else _download(source))
    if not examples:
        wanted = source.splits if path else source.hub_splits
        raise IsotropeError(f"{name}: no rows in it" + (f" of the splits {', '.join(wanted)}" if wanted else ""))
    return Labelled(name, examples)


def labelled_file(source: LabelledSource, data: Path | None = None) -> Path | None:
    """Where a source's file is; None if it is not there."""
    return data_file(source.file, data)


def _read(source: LabelledSource, path: Path) -> Iterator[Example]:
    columns = ("split", "label", *source.columns) if source.splits else ("label", *source.columns)
    for row in read_table(path, columns):
        split = source.splits.get(row["split"]) if source.splits else WHOLE
        if split is not None:
            yield Example(split, row["label"], tuple(row[column] for column in source.columns))


def _download(source: LabelledSource) -> Iterator[Example]:
    splits = hub_splits(source.name, source.file, source.hub, source.config)
    label, *columns = (source.hub_names.get(column, column) for column in ("label", *source.columns))
    for name, table in splits.items():
        for row in table if name in source.hub_splits else ():
            yield Example(source.hub_splits[name], str(row[label]), tuple(row[column] for column in columns))
