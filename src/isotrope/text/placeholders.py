"""Cells that stand for nothing: "N/A", "-", "test"."""

from __future__ import annotations

import re

NOTHING = (
    "n/a|na|#n/a|n.a.|none|null|nil|nan|undefined|unknown|not applicable|not available|tbd|todo|test|xxx|x|-|--|---|."
    "|..|...|?|empty|blank|no description|no text|see attachment|see attached|see above|[deleted]|[removed]"
)
PLACEHOLDERS = frozenset(NOTHING.split("|"))
LONGEST = 80  # characters of a text that may be nothing but placeholders
_STOPS = ".,:;| "
_CUTS = (re.compile(r"(?<=[.,:;|])\s+"), re.compile(r"\s+"))  # between sentences, between words


def is_placeholder(text: str) -> bool:
    """Whether a text is a placeholder, or several that columns were joined from.

    >>> [is_placeholder(one) for one in ("N/A", "N/A. see attachment", "- none", "a test", "")]
    [True, True, True, False, False]
    """
    bare = text.strip().casefold()
    return len(bare) <= LONGEST and any(all(map(_is_known, cut.split(bare))) for cut in _CUTS)


def _is_known(part: str) -> bool:
    return part in PLACEHOLDERS or part.rstrip(_STOPS) in PLACEHOLDERS
