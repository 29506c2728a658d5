"""A text view of one's own: words of a sentence left out. A function from texts to texts; what it makes is cached.

[views.texts]
view1 = { kind = "text_view:shorten", rate = 0.3 }
"""

from __future__ import annotations

import random

import isotrope
from isotrope.text import bundled_sentences


def shorten(texts: list[str], *, rate: float = 0.2) -> list[str]:
    """Each sentence without some of its words, the same ones each time."""
    return [" ".join(w for w in text.split() if random.Random(text + w).random() >= rate) for text in texts]


def main(output: str = "runs/shorten", steps: int = 20) -> None:
    """A sentence and its shorter self, by SimCSE's contrast."""
    views = {"views.texts.view1": {"kind": shorten, "rate": 0.3}, "views.second.column": "view1"}
    run = isotrope.train(bundled_sentences()[:400], "simcse:bundled", output=output, steps=steps, set=views)
    print(run.corpus, run.figures["alignment"])


if __name__ == "__main__":
    main()
