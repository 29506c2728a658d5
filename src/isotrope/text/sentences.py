"""Text into sentences, by sentencex (Wikimedia): rules for some 300 languages, no models, no network."""

from __future__ import annotations

import re

# Only these two end a question or a sentence with marks that mean something else elsewhere (`;` and `:`). For other
# languages sentencex finds the same sentences by its English rules, apart from abbreviations.
OWN_MARKS = {"el": re.compile(r"[\u0370-\u03ff\u1f00-\u1fff]"), "hy": re.compile(r"[\u0530-\u058f]")}
DEFAULT = "en"


def split_sentences(text: str, language: str | None = None) -> list[str]:
    """The sentences of a text, in their order, without the blanks around them and with single blanks inside.

    `language` is a code such as `de`; it matters little, except for the abbreviations that a full stop may follow.
    By default it is guessed from the letters.

    >>> split_sentences("Dr. Smith came at 3.15 p.m. on Monday. Was she late? No!")
    ['Dr. Smith came at 3.15 p.m. on Monday.', 'Was she late?', 'No!']
    """
    from sentencex import segment

    parts = (" ".join(part.split()) for part in segment(language or _guess(text), text))
    return [part for part in parts if part]


def _guess(text: str) -> str:
    """A language whose marks are its own, where half of the text is in its letters."""
    half = len(text) / 2
    return next((code for code, letters in OWN_MARKS.items() if len(letters.findall(text)) > half), DEFAULT)
