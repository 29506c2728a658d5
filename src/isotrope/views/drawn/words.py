"""The words of a text, for what takes some of them."""

from __future__ import annotations


def words_of(text: str) -> tuple[list[str], str]:
    """The words of a text, and what stands between them; its characters where the script has no spaces."""
    words = text.split()
    return (list(text), "") if len(words) == 1 and not text.isascii() else (words or [text], " ")
