"""What is in a text before anything learns from it: blanks, repetitions, markup, placeholders, languages."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from isotrope.io.errors import as_typed
from isotrope.io.hashes import digest
from isotrope.text.files import Row
from isotrope.text.languages import language_shares
from isotrope.text.markup import has_markup
from isotrope.text.placeholders import is_placeholder

LOOKED_AT = 100_000  # rows; of the others only how many they are, and how many are blank
IDENTIFIED = 500  # texts whose language is looked at
EXCERPT = 2_000  # characters of each of them
RARE = 0.02  # share of the texts below which a language is not named
MUCH = {
    "markup": 0.05,
    "placeholders": 0.02,
    "duplicates": 0.5,
    "near_duplicates": 0.1,
}  # shares above which it will hurt

WARNINGS = {
    "markup": "HTML is learnt as if it were words; {strip_html} removes it",
    "placeholders": "placeholders carry no meaning and all look alike; remove those rows",
    "duplicates": "most rows repeat another row; there is less text here than it seems",
    "near_duplicates": "training pushes near-duplicates apart like any other texts; keep one of each",
}


@dataclass
class Survey:
    """Counts, filled while rows pass by."""

    rows: int = 0
    blank: int = 0
    looked_at: int = 0  # rows with text of which the following is known
    markup: int = 0
    placeholders: Counter[str] = field(default_factory=Counter)
    sample: list[Row] = field(default_factory=list)  # beginnings of the texts of rows, each as likely as any other
    _texts: set[bytes] = field(default_factory=set)
    _near: set[bytes] = field(default_factory=set)
    _chance: random.Random = field(default_factory=lambda: random.Random(0))

    def rows_of(self, rows: Iterable[Row], columns: tuple[str, ...]) -> Iterator[Row]:
        """The rows as they are, looked at on the way. `columns` hold text."""
        for row in rows:
            texts = [row[column] for column in columns]
            self.rows += 1
            if not all(texts):
                self.blank += 1
            elif self.looked_at < LOOKED_AT:
                self._look(dict(zip(columns, texts, strict=True)))
            yield row

    @property
    def duplicates(self) -> int:
        """Rows that are the same as one before them."""
        return self.looked_at - len(self._texts)

    @property
    def near_duplicates(self) -> int:
        """Others that differ from one before them in case, digits or punctuation alone."""
        return len(self._texts) - len(self._near)

    @cached_property
    def languages(self) -> dict[str, float]:
        """The share of each language, and of texts in no clear one; empty where nothing tells languages.

        To be asked when all rows have passed.
        """
        return language_shares(self.texts())

    def texts(self, columns: Collection[str] | None = None) -> list[str]:
        """The beginnings of some texts: those of the columns, or of all."""
        return [text for row in self.sample for column, text in row.items() if columns is None or column in columns]

    def as_dict(self) -> dict[str, Any]:
        """Every count."""
        return {
            "rows": self.rows,
            "blank": self.blank,
            "looked_at": self.looked_at,
            "duplicates": self.duplicates,
            "near_duplicates": self.near_duplicates,
            "markup": self.markup,
            "placeholders": self.placeholders.total(),
            "languages": {name: round(share, 3) for name, share in self.languages.items() if share >= RARE},
        }

    def lines(self) -> Iterator[str]:
        """What was read, in one line; then a line for whatever will hurt."""
        found, usual = self.as_dict(), self.placeholders.most_common(1)
        said = {
            "blank": found["blank"],
            "duplicate{s}": found["duplicates"],
            "near-duplicate{s} (in all but case, digits, punctuation)": found["near_duplicates"],
            "with HTML": found["markup"],
            "placeholder{s} such as '{usual}'": found["placeholders"],
        }
        word = usual[0][0] if usual else ""
        counts = ", ".join(
            f"{count:,} {what.format(s='' if count == 1 else 's', usual=word)}" for what, count in said.items() if count
        )
        part = f", {self.looked_at:,} of them checked" if self.looked_at < self.rows - self.blank else ""
        languages = ", ".join(f"{name} {share:.0%}" for name, share in found["languages"].items())
        yield (
            f"read {self.rows:,} row{'' if self.rows == 1 else 's'}{part}"
            + f": {counts}" * bool(counts)
            + f"; languages: {languages}" * bool(languages)
        )
        for what, warning in WARNINGS.items():
            if found[what] > MUCH[what] * max(self.looked_at, 1):
                yield f"Warning: {warning.format(strip_html=as_typed('strip_html=True'))}"

    def _look(self, row: Row) -> None:
        texts = list(row.values())
        self.looked_at += 1
        whole = "\0".join(texts)
        self._texts.add(digest(whole, 8))
        self._near.add(digest(_bare(whole), 8))
        self.markup += any(map(has_markup, texts))
        for text in texts:
            if is_placeholder(text):
                self.placeholders[text] += 1
        place = len(self.sample) if len(self.sample) < IDENTIFIED else self._chance.randrange(self.looked_at)
        if place < IDENTIFIED:
            self.sample[place : place + 1] = [{column: text[:EXCERPT] for column, text in row.items()}]


def _bare(text: str) -> str:
    """In small letters, digits as 0, and nothing else; text of signs alone stays as it is."""
    return re.sub(r"[\W_]+", " ", re.sub(r"\d", "0", text.casefold())).strip() or text
