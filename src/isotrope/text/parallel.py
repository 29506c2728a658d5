"""Cleaning of parallel text, rule by rule, as machine translation does it before training; any number of pairs.

A pair is dropped by the first rule that it breaks. Lengths are in characters of English: what is written with fewer
(one of Chinese stands for 3.2) counts for more, so that they can be compared, and a limit means the same everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice

from isotrope.io.errors import IsotropeError
from isotrope.text.cells import cell_text
from isotrope.text.files import Row
from isotrope.text.hashes import HashSet, hash_texts
from isotrope.text.languages import new_identifier
from isotrope.text.scripts import Look, Writing
from isotrope.text.sources import Source, source_rows

RULES = {
    "control": "control characters, or characters that were lost",
    "empty": "a side is empty",
    "length": "a side is too short or too long",
    "identical": "both sides are the same",
    "symbols": "a side is mostly digits and symbols",
    "script": "a side is not in the script of its language",
    "ratio": "one side is much longer than the other",
    "language": "a side is in another language",
    "duplicate": "the same pair came before",
    "same source": "another translation of this source came before",
}
PAIR = ("source", "target")
CHUNK_PAIRS = 8192
LETTERS = 0.3  # of a side, at least; the rest is digits, punctuation and symbols: "It's 7:45." is fine
OWN_SCRIPT = 0.3  # of its letters, at least; names often stay as they are
SLACK = 15  # characters added to both lengths before they are compared: short sentences differ more
SURE = 0.8  # probability at which another language is believed
LONG_ENOUGH = 40  # characters, for its language to be told
CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ue000-\uf8ff\ufdd0-\ufdef\ufffd-\uffff]")
LOST = "\N{REPLACEMENT CHARACTER}"

Pair = tuple[str, str]
Foreign = Callable[[str, str], bool]  # text and language -> whether the text is, surely, in another one


@dataclass
class Cleaner:
    """The rules for one pair of languages, and what each of them has dropped so far."""

    source: str
    target: str
    min_length: float = 2
    max_length: float = 600  # 100 words
    max_ratio: float = 2.5
    one_per_source: bool = False
    foreign: Foreign | None = None
    kept: int = field(default=0, init=False)
    dropped: dict[str, int] = field(init=False)  # by each rule that is on
    examples: dict[str, Pair] = field(default_factory=dict, init=False)  # the first that each has dropped

    def __post_init__(self) -> None:
        """Nothing is dropped yet."""
        off = {"language": self.foreign is None, "same source": not self.one_per_source}
        self.dropped = {rule: 0 for rule in RULES if not off.get(rule)}
        self._writing = Writing(self.source), Writing(self.target)
        self._seen = {"duplicate": HashSet(), "same source": HashSet()}

    def __call__(self, pairs: Iterable[Pair]) -> Iterator[list[Pair]]:
        """The good ones, with single spaces, some thousand at a time."""
        stream = iter(pairs)
        while chunk := list(islice(stream, CHUNK_PAIRS)):
            good = []
            for pair in chunk:
                tidy = (" ".join(pair[0].split()), " ".join(pair[1].split()))
                fault = "control" if CONTROL.search("".join(pair)) else self.fault(*tidy)
                if fault:
                    self._drop(fault, tidy)
                else:
                    good.append(tidy)
            good = self._unseen(good, "duplicate", 2)
            if self.one_per_source:
                good = self._unseen(good, "same source", 1)
            self.kept += len(good)
            yield good

    @property
    def seen(self) -> int:
        """Pairs so far, good and bad."""
        return self.kept + sum(self.dropped.values())

    @property
    def off(self) -> list[str]:
        """What could not be checked, and why."""
        unknown = [writing.language for writing in self._writing if not writing.scripts]
        reasons = [f"script: that of {' and '.join(unknown)} is not known"] if unknown else []
        return reasons + (["language: pip install py3langid"] if self.foreign is None else [])

    def fault(self, source: str, target: str) -> str | None:
        """The first rule, of those that look at one pair alone, that it breaks."""
        if not source or not target:
            return "empty"
        one, other = self._writing[0].look(source), self._writing[1].look(target)
        longer, shorter = max(one.length, other.length), min(one.length, other.length)
        if shorter < self.min_length or longer > self.max_length:
            return "length"
        if source.casefold() == target.casefold():
            return "identical"
        if min(one.letters, other.letters) < LETTERS:
            return "symbols"
        if min(one.own, other.own) < OWN_SCRIPT:
            return "script"
        if longer + SLACK > self.max_ratio * (shorter + SLACK):
            return "ratio"
        if self._foreign(source, one, 0) or self._foreign(target, other, 1):
            return "language"
        return None

    def _foreign(self, text: str, look: Look, side: int) -> bool:
        """Whether it is long enough for its language to be told, and that is another one."""
        if self.foreign is None or look.length < LONG_ENOUGH:
            return False
        return self.foreign(text, self._writing[side].language)

    def _unseen(self, pairs: list[Pair], rule: str, sides: int) -> list[Pair]:
        """Those whose first one or two sides have not been there before."""
        if not pairs:
            return []
        new = self._seen[rule].add(hash_texts(*list(zip(*pairs, strict=True))[:sides])).tolist()
        for pair, is_new in zip(pairs, new, strict=True):
            if not is_new:
                self._drop(rule, pair)
        return [pair for pair, is_new in zip(pairs, new, strict=True) if is_new]

    def _drop(self, rule: str, pair: Pair) -> None:
        self.dropped[rule] += 1
        self.examples.setdefault(rule, (CONTROL.sub(LOST, pair[0]), CONTROL.sub(LOST, pair[1])))


def read_pairs(table: Source, source: str, target: str) -> Iterator[Pair]:
    """The two columns of a table: named as the languages are given, or else `source` and `target`."""
    names: tuple[str, ...] = ()
    where, rows = source_rows(table)
    for number, row in enumerate(rows, 1):
        names = names or _columns(row, source, target, where)
        one, other = (cell_text(row.get(name), f"{where}: row {number}: column '{name}'") for name in names)
        yield one or "", other or ""


def language_identifier() -> Foreign | None:
    """py3langid, where it is installed. It says nothing of a language that it doesn't know."""
    identifier = new_identifier()
    if identifier is None:
        return None
    known = set(identifier.labels)

    def foreign(text: str, language: str) -> bool:
        found, probability = identifier.classify(text)
        return language in known and found != language and probability > SURE

    return foreign


def _columns(row: Row, source: str, target: str, where: str) -> tuple[str, ...]:
    for names in ((source, target), PAIR):
        if set(names) <= set(row):
            return names
    raise IsotropeError(
        f"{where}: the columns must be {source} and {target}, or source and target; it has: {', '.join(row)}"
    )
