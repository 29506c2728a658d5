"""Greetings, signatures and footers: phrases that many different texts share word for word."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

SHARE, FEWEST = 0.01, 5  # of the texts, and texts, that share a phrase before it is boilerplate
LEFT = 3  # words that a text must keep; what would keep fewer stays whole
# the end of a line, a punctuation mark, or dashes, bars and bullets between blanks
_ENDS = re.compile(r"\s*\n\s*|(?<=[.,;:!?])\s+|\s+[-\u2013\u2014|\u2022*]+\s+")
_WORD = re.compile(r"\w+")


def without_boilerplate(texts: Sequence[str]) -> tuple[list[str], list[str]]:
    """The texts without the phrases that many of them share, and those phrases, the most common first.

    A phrase ends with its line or at a punctuation mark. Two texts of which one was told twice must not count twice, so
    the texts should be different ones.

    >>> orders = ("a red car", "two blue boats", "the old house", "my new bike", "some green tea")
    >>> without_boilerplate([f"Hello,\\nI want {one}. Kind regards" for one in orders])
    (['I want a red car.', 'I want two blue boats.', ...], ['hello', 'kind regards'])
    """
    phrases = [[phrase for phrase in _ENDS.split(text) if _WORD.search(phrase)] for text in texts]
    keys = [[_key(phrase) for phrase in some] for some in phrases]
    counts = Counter(key for some in keys for key in dict.fromkeys(some))
    enough = max(FEWEST, SHARE * len(texts))
    shared = {key: None for key, count in counts.most_common() if count >= enough}
    if not shared:
        return list(texts), []
    inside = _anywhere(shared)
    made = []
    for text, some, known in zip(texts, phrases, keys, strict=True):
        left = " ".join(phrase for phrase, key in zip(some, known, strict=True) if key not in shared)
        left = " ".join(inside.sub(" ", left).split()) if inside else left
        made.append(left if len(_WORD.findall(left)) >= LEFT else text)
    return made, list(shared)


def _key(phrase: str) -> str:
    return " ".join(_WORD.findall(phrase.casefold()))


def _anywhere(shared: Sequence[str] | dict[str, None]) -> re.Pattern[str] | None:
    """Phrases of several words are known in the middle of a line too: "Best regards Ana"."""
    several = sorted((key for key in shared if " " in key), key=len, reverse=True)
    said = "|".join(r"\W+".join(map(re.escape, key.split())) for key in several)
    return re.compile(rf"\b(?:{said})\b", re.IGNORECASE) if said else None
