"""The beginning of a very long text, which is all of it that an encoder reads."""

from __future__ import annotations

import re
from typing import Any

LETTERS = 16  # characters of a token, by a generous estimate
LEAST = 1_000  # characters of a beginning
GROWTH = 8  # times as long is the next beginning where one does not do, and a text for which one is worth a try
LATER_WORDS = 16  # that must follow what is read
SPACE = re.compile(r".*\s", re.DOTALL)
NO_DIGITS = re.compile(r".*\D(?=\D)", re.DOTALL)  # digits are grouped from the right by some tokenizers


def beginning(tokenizer: Any, text: str, longest: int) -> str:
    """As much of a text as has the same first `longest` tokens, and more than these; or all of it.

    Tokenizers split a text into words from left to right, and these into tokens, each word by itself. A cut can thus
    change the last words before it, and no others: the tokens are those of the whole text if enough words follow.
    """
    size = max(LEAST, LETTERS * longest)
    if len(text) < GROWTH * size or not tokenizer.is_fast or tokenizer.truncation_side != "right":
        return text
    while GROWTH * size <= len(text):
        start = _cut(text[:size])
        if start and _is_enough(tokenizer, start, longest):
            return start
        size *= GROWTH
    return text


def _cut(start: str) -> str:
    """Behind the last space, or else between two characters that are no digits."""
    found = SPACE.match(start, len(start) // 2) or NO_DIGITS.match(start)
    return start[: found.end()] if found else ""


def _is_enough(tokenizer: Any, start: str, longest: int) -> bool:
    (encoding,) = tokenizer([start], add_special_tokens=False, truncation=False, verbose=False).encodings
    words = encoding.word_ids  # of each token, which word it is of
    return len(words) > longest and words[longest] + LATER_WORDS <= words[-1]
