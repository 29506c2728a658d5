"""What one item of training is: a text as it was given, or each of its sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Literal, get_args

from isotrope.io.errors import IsotropeError, nearest
from isotrope.text.files import Row
from isotrope.text.sentences import split_sentences

Unit = Literal["sentence", "document", "auto"]
LOOKED_AT = 1000  # texts of a source, by which `auto` decides
TOO_MANY = 0.1  # share of them that have several sentences and are too long to be read whole
TooLong = Callable[[Sequence[str]], Sequence[bool]]  # of each text, whether an encoder would cut it


def check_unit(unit: str) -> None:
    """Refuses what is no unit."""
    if unit not in get_args(Unit):
        raise IsotropeError(f"unknown unit '{unit}'{nearest(unit, get_args(Unit))}; one of {', '.join(get_args(Unit))}")


@dataclass
class Split:
    """A source whose texts are split: how many they are, and why."""

    why: str
    documents: int = 0
    sentences: int = 0

    def __str__(self) -> str:
        """`300 documents, 3,412 sentences`."""
        return f"{_many(self.documents, 'document')}, {_many(self.sentences, 'sentence')}{self.why}"


@dataclass
class Units:
    """Splits the rows of sources, or leaves them whole, as they pass by; counts what was split in `splits`.

    `sentence` splits every text and `document` none. `auto` looks at the first 1,000 texts of a source: if more than a
    tenth of them have several sentences and are `too_long`, it splits them all, since what is cut off would never be
    read; else it splits none.
    """

    unit: Unit
    too_long: TooLong
    splits: dict[str, Split] = field(default_factory=dict)  # by the name of the source

    def rows(self, name: str, rows: Iterable[Row]) -> Iterator[Row]:
        """The rows of a source, which have a `text`, in units."""
        rows = iter(rows)
        looked_at = list(islice(rows, LOOKED_AT))
        why = self._reason([row["text"] for row in looked_at if row["text"] is not None])
        rows = chain(looked_at, rows)
        return rows if why is None else self._split(rows, name, why)

    @property
    def documents(self) -> int:
        """Texts that were split."""
        return sum(split.documents for split in self.splits.values())

    def __str__(self) -> str:
        """A line for each source that was split."""
        return "\n".join(f"{name}: {split}" for name, split in self.splits.items())

    def _reason(self, texts: Sequence[str]) -> str | None:
        """Why these texts are split; None if they are not."""
        if self.unit != "auto":
            return "" if self.unit == "sentence" else None
        long = [text for text, cut in zip(texts, self.too_long(texts), strict=True) if cut] if texts else []
        several = sum(len(split_sentences(text)) > 1 for text in long)
        if several <= TOO_MANY * len(texts):
            return None
        return f" (split because {several:,} of the first {len(texts):,} have several sentences and are too long)"

    def _split(self, rows: Iterable[Row], name: str, why: str) -> Iterator[Row]:
        split = self.splits[name] = Split(why)
        for row in rows:
            if row["text"] is None:
                yield row
                continue
            sentences = split_sentences(row["text"])
            split.documents += 1
            split.sentences += len(sentences)
            yield from ({"text": sentence} for sentence in sentences)


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
