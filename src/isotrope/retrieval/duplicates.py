"""`paraphrases` and `duplicates`: texts of a table that say the same, or almost."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from rich.markup import escape
from rich.table import Table

from isotrope.encoders.loading import Model
from isotrope.encoders.nearest import Floats, nearest
from isotrope.evaluation.results.printing import Printable, many
from isotrope.io.atomic import check_output
from isotrope.io.errors import IsotropeError, one_line
from isotrope.retrieval.left_out import LeftOut
from isotrope.retrieval.texts import ENDINGS, Texts, read_texts, write_columns
from isotrope.text.sources import Source

NEIGHBOURS = 100  # of a text that are looked at
SAMPLED = 200  # texts by which a threshold is suggested
RANDOM_PAIRS, TOP = 20_000, 99.9  # pairs that have nothing to do with each other; per cent of them below a threshold
SHORTEST = 3  # words of a text from which one is left out
SHOWN, WIDEST = 10, 80


@dataclass(frozen=True)
class Paraphrase:
    """Two texts, the first row of each, and their cosine."""

    cosine: float
    rows: tuple[int, int]
    texts: tuple[str, str]


@dataclass(frozen=True, repr=False)
class Paraphrases(Printable):
    """Pairs of different texts, the most similar first."""

    pairs: list[Paraphrase]
    left_out: LeftOut = field(default_factory=LeftOut)

    def parts(self) -> Iterator[Table | str]:
        """A table."""
        table = Table("Cosine", "Rows", "First", "Second")
        for one in self.pairs:
            texts = (escape(one_line(text, WIDEST)) for text in one.texts)
            table.add_row(f"{one.cosine:.3f}", f"{one.rows[0]}, {one.rows[1]}", *texts)
        yield table
        yield from map(escape, self.left_out.lines())

    def as_dict(self) -> dict[str, Any]:
        """`{"left_out": [...], "placeholders": ..., "pairs": [{"cosine": ..., "rows": [...], "texts": [...]}]}`."""
        pairs = [{"cosine": round(p.cosine, 4), "rows": list(p.rows), "texts": list(p.texts)} for p in self.pairs]
        return {**self.left_out.as_dict(), "pairs": pairs}


def paraphrases(
    table: Source, model: Model = "small", *, most: int = 100, whole: bool = False, **options: Any
) -> Paraphrases:
    """The pairs of different texts of a table that are most similar.

    Two letters are not alike for their greeting and signature: as of `cluster`, phrases that many texts share are left
    out before texts are compared, and so are rows that hold a placeholder such as N/A.

    Args:
        table: a file, a data frame, rows or sentences.
        model: a name, a folder, an encoder.
        most: how many pairs.
        whole: leaves nothing out.
        options: `column`, `columns`, `join`, `strip_html`, `batch_size`, `device`, `precision`, as of `encode`.

    Example:
        >>> import isotrope
        >>> texts = ["A dog barks.", "Interest rates rise.", "The dog is barking."]
        >>> isotrope.paraphrases(texts, most=1).pairs[0].rows
        (0, 2)
    """
    read = read_texts(table, model, boilerplate=whole, placeholders=whole, **options)
    found = nearest(read.vectors, read.vectors, min(NEIGHBOURS, len(read.texts)))
    pairs = {
        (min(i, j), max(i, j)): cosine
        for i, (places, cosines) in enumerate(zip(found.places.tolist(), found.cosines.tolist(), strict=True))
        for j, cosine in zip(places, cosines, strict=True)
        if i != j
    }
    best = sorted(pairs.items(), key=lambda pair: (-pair[1], pair[0]))[:most]
    return Paraphrases(
        [
            Paraphrase(cosine, (read.rows[i][0], read.rows[j][0]), (read.texts[i], read.texts[j]))
            for (i, j), cosine in best
        ],
        read.left_out,
    )


@dataclass(frozen=True)
class Group:
    """Rows that say the same; the first is the one to keep, all others are near it."""

    rows: list[int]
    texts: list[str]  # the different wordings


@dataclass(frozen=True, repr=False)
class Duplicates(Printable):
    """Groups of rows that say the same, largest first."""

    groups: list[Group]
    threshold: float
    suggested: bool
    rows: int
    left_out: LeftOut = field(default_factory=LeftOut)

    @cached_property
    def duplicate_of(self) -> dict[int, int]:
        """Row -> the row that says the same and is kept."""
        return {row: group.rows[0] for group in self.groups for row in group.rows[1:]}

    def parts(self) -> Iterator[Table | str]:
        """A line, and the largest groups."""
        how = "estimated from the text" if self.suggested else "as given"
        say = "says" if len(self.duplicate_of) == 1 else "say"
        yield (
            f"{len(self.duplicate_of):,} of {many(self.rows, 'row')} {say} the same as another row, in "
            f"{many(len(self.groups), 'group')}; cosine threshold {self.threshold:.3f}, {how}"
        )
        yield from map(escape, self.left_out.lines())
        if not self.groups:
            return
        more = f" ({SHOWN} of {len(self.groups):,})" if len(self.groups) > SHOWN else ""
        table = Table("Rows", "Wordings", "Text", title=f"Largest groups{more}", title_justify="left")
        for group in self.groups[:SHOWN]:
            shown = "\n".join(escape(one_line(text, WIDEST)) for text in group.texts[:3])
            table.add_row(f"{len(group.rows):,}", f"{len(group.texts):,}", shown)
        yield table

    def as_dict(self) -> dict[str, Any]:
        """`{"threshold": ..., "rows": ..., "placeholders": ..., "duplicates": ..., "groups": [{"rows": ..., ...}]}`."""
        groups = [{"rows": group.rows, "texts": group.texts} for group in self.groups]
        left_out = self.left_out.placeholders
        counts = {"rows": self.rows, "placeholders": left_out, "duplicates": len(self.duplicate_of)}
        return {"threshold": round(self.threshold, 4), "suggested": self.suggested, **counts, "groups": groups}


def duplicates(
    table: Source,
    model: Model = "small",
    *,
    threshold: float | None = None,
    output: str | Path | None = None,
    whole: bool = False,
    force: bool = False,
    **options: Any,
) -> Duplicates:
    """Groups of rows that say the same, or almost.

    Every row of a group is at least as near to its first as the threshold. Without one it is suggested by the text:
    as near as a text is to itself without one of its words, in the median; and nearer than 99.9% of random pairs.
    Rows that hold a placeholder such as N/A say nothing, so that none of them says what another says. What many texts
    share is compared with the rest: where nothing else differs, a greeting or an attribute is the difference.

    Args:
        table: a file, a data frame, rows or sentences.
        model: a name, a folder, an encoder.
        threshold: the cosine from which on two texts are taken for the same.
        output: a .parquet with the table and a column `duplicate_of`: the row (from 0) that says the same, or null.
        whole: compares placeholders, too.
        force: replaces the output.
        options: `column`, `columns`, `join`, `strip_html`, `batch_size`, `device`, `precision`, as of `encode`.

    Example:
        >>> import isotrope
        >>> texts = ["Where is my parcel?", "The printer is on fire.", "Where is my parcel??"]
        >>> isotrope.duplicates(texts, threshold=0.9).duplicate_of
        {2: 0}
    """
    if threshold is not None and not 0 < threshold <= 1:
        raise IsotropeError(f"a threshold is a cosine above 0 and up to 1, not {threshold}")
    if output is not None:
        check_output(Path(output), ENDINGS, force=force)
    read = read_texts(table, model, placeholders=whole, **options)
    chosen = suggest_threshold(read) if threshold is None else threshold
    found = Duplicates(groups_of(read, chosen), chosen, threshold is None, read.count, read.left_out)
    if output is not None:
        more = {"duplicate_of": [found.duplicate_of.get(row) for row in range(read.count)]}
        write_columns(table, Path(output), more, **options)
    return found


def groups_of(read: Texts, threshold: float) -> list[Group]:
    """Of several rows each, the largest first."""
    groups = [
        Group(sorted(row for i in members for row in read.rows[i]), [read.texts[i] for i in members])
        for members in _groups(read.vectors, threshold)
    ]
    return sorted((group for group in groups if len(group.rows) > 1), key=lambda group: -len(group.rows))


def suggest_threshold(read: Texts, seed: int = 0) -> float:
    """How near a text is to itself without one of its words, in the median; at least above 99.9% of random pairs."""
    chance = random.Random(seed)
    long = [i for i, text in enumerate(read.texts) if len(text.split()) >= SHORTEST]
    some = chance.sample(long, min(SAMPLED, len(long)))
    random_pairs = np.array([chance.choices(range(len(read.texts)), k=2) for _ in range(RANDOM_PAIRS)])
    different = random_pairs[random_pairs[:, 0] != random_pairs[:, 1]]
    cosines = (read.vectors[different[:, 0]] * read.vectors[different[:, 1]]).sum(axis=1)
    lowest = float(np.percentile(cosines, TOP)) if len(different) else 0.0
    if not some:
        return max(lowest, 0.95)
    shorter = read.encoder.encode([_without_a_word(read.texts[i], chance) for i in some], normalize_embeddings=True)
    return min(max(float(np.median((shorter * read.vectors[some]).sum(axis=1))), lowest), 1.0)


def _without_a_word(text: str, chance: random.Random) -> str:
    words = text.split()
    words.pop(chance.randrange(len(words)))
    return " ".join(words)


def _groups(vectors: Floats, threshold: float) -> Iterator[list[int]]:
    """Each text is in one group: that of the first text, in their order, that it is near enough to."""
    found = nearest(vectors, vectors, min(NEIGHBOURS, len(vectors)))
    taken = np.zeros(len(vectors), bool)
    for i in range(len(vectors)):
        if taken[i]:
            continue
        near: Sequence[int] = found.places[i][found.cosines[i] >= threshold].tolist()
        members = [i, *(j for j in sorted(near) if j != i and not taken[j])]
        taken[members] = True
        yield members
