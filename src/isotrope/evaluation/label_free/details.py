"""Whether a text is still told from those that are like it: with some of its words gone, it seeks the whole among all.

Halves of long sentences have little to fear from the near ones: hardly any two are alike. A text that has lost two of
five words has: its neighbours look like the whole. An encoder that draws neighbours together loses here what texts of
one kind gain, point by point (docs/domains.md). That it gains here means nothing: word counts are very good at it.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from isotrope.evaluation.label_free.neighbourhoods import Shift, shift
from isotrope.evaluation.label_free.related_texts import WORD, RelatedTexts
from isotrope.evaluation.label_free.verdict import find_each_other
from isotrope.evaluation.protocols import SentenceEncoder
from isotrope.io.hashes import digest

FEWEST = 50  # texts
SHORT = 4  # words, below which nothing can be left out
GONE = 0.4  # of the words


def compare_details(
    encoders: Sequence[SentenceEncoder], vectors: Sequence[Any], sentences: Sequence[str], *, batch_size: int = 64
) -> Shift | None:
    """MRR x 100 of shortened texts by two encoders, whose vectors of the sentences, (sentences, dim), are known.

    None where too few texts have words to spare.
    """
    shortened = {row: short for row, text in enumerate(sentences) if (short := shorten(text))}
    if len(shortened) < FEWEST:
        return None
    rows = list(shortened)
    pairs = RelatedTexts("shortened", list(shortened.values()), [sentences[row] for row in rows])
    before, after = (
        find_each_other(encoder.encode(pairs.first, batch_size=batch_size), own[rows], pairs).reciprocal
        for encoder, own in zip(encoders, vectors, strict=True)
    )
    return shift(before, after)


def shorten(text: str) -> str | None:
    """The text without two of five words, the same ones each time; None for a short one."""
    words = list(WORD.finditer(text))
    if len(words) < SHORT:
        return None
    gone = set(random.Random(digest(text, 8)).sample(range(len(words)), round(GONE * len(words))))
    ends = [*(word.start() for word in words[1:]), len(text)]
    kept = (text[word.start() : end] for k, (word, end) in enumerate(zip(words, ends, strict=True)) if k not in gone)
    return "".join(kept).strip()
