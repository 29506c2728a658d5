"""Pairs of texts that belong together, found without labels: the halves of a long sentence, a sentence reworded."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from isotrope.evaluation.label_free.sampling import sample_sentences
from isotrope.evaluation.protocols import Display
from isotrope.io.errors import IsotropeError
from isotrope.text import read_table

UNSPACED = "\u3040-\u30ff\u3400-\u9fff"  # Japanese and Chinese characters, each taken for a word
WORD = re.compile(rf"[{UNSPACED}]|[^\s{UNSPACED}]+")
CLAUSE_ENDS = ",;:\u2013\u2014\uff0c\uff1b\uff1a\u3001"  # with both dashes, and the Chinese marks
LONG = 8  # words of a sentence that is split
HALVES, REWORDED = "halves", "rewordings"


@dataclass(frozen=True)
class RelatedTexts:
    """Texts and what belongs to each: two lists of one length; `kind` says what they are."""

    kind: str
    first: list[str]
    second: list[str]

    def __len__(self) -> int:
        return len(self.first)


def halve(sentence: str) -> tuple[str, str] | None:
    """A long sentence in two, at the clause boundary nearest to its middle or, if there is none in the middle half of
    its words, behind the middle word. None for a short one.
    """
    words = list(WORD.finditer(sentence))
    if len(words) < LONG:
        return None
    middle, margin = len(words) // 2, len(words) // 4
    boundaries = [
        i
        for i in range(middle - margin, middle + margin + 1)
        if sentence[words[i - 1].start() : words[i].start()].rstrip()[-1:] in CLAUSE_ENDS
    ]
    cut = words[min(boundaries or [middle], key=lambda i: abs(i - middle))].start()
    return sentence[:cut].rstrip(CLAUSE_ENDS + " "), sentence[cut:]


def halves(sentences: Iterable[str]) -> RelatedTexts:
    """Both halves of each sentence that is long enough."""
    found = list(filter(None, map(halve, sentences)))
    return RelatedTexts(HALVES, [first for first, _ in found], [second for _, second in found])


def read_rewordings(path: Path, size: int) -> RelatedTexts:
    """At most `size` rows of a table with the columns `text` and `view1`, as `isotrope views` writes them, where both
    use other words: the same text twice is found by any encoder.
    """
    rows = ((str(row["text"] or ""), str(row["view1"] or "")) for row in read_table(path, ("text", "view1")))
    different = (f"{text}\0{view}" for text, view in rows if view.strip() and _words(text) != _words(view))
    kept = [row.split("\0") for row in sample_sentences(different, size)]
    if not kept:
        raise IsotropeError(f"{path}: no row whose view1 is another wording of its text")
    return RelatedTexts(REWORDED, [text for text, _ in kept], [view for _, view in kept])


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def back_translations(sentences: list[str], display: Display) -> RelatedTexts:
    """By the engine at hand; those that were made before are looked up."""
    from isotrope.views.text import make_text_view, write_views

    view = make_text_view("back-translation")
    with TemporaryDirectory() as folder, display.counting("Back-translating", len(sentences)) as advance:
        write_views([sentences], {"view1": view}, Path(folder, "views.parquet"), progress=advance)
        return read_rewordings(Path(folder, "views.parquet"), len(sentences))
