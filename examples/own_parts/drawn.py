"""A text drawn anew at each batch: words of a sentence left out, other ones each time. A function from text to text.

[views.second]
draw = { kind = "drawn:shorten", rate = 0.3 }   # module:name; run from this folder, or install it as a package
"""

from __future__ import annotations

import random

import isotrope
from isotrope.text import bundled_sentences


def shorten(text: str, *, chance: random.Random, rate: float = 0.2) -> str:
    """The text without some of its words. `chance` is the row's own in this batch: a resumed run draws the same."""
    return " ".join(word for word in text.split() if chance.random() >= rate) or text


def main(output: str = "runs/drawn", steps: int = 20) -> None:
    """A sentence and what is left of it, by SimCSE's contrast."""
    draw = {"views.second.draw": {"kind": shorten, "rate": 0.3}}
    run = isotrope.train(bundled_sentences()[:400], "simcse:bundled", output=output, steps=steps, set=draw)
    print(run.recipe.stages[0].views.second.draw, run.figures["alignment"])


if __name__ == "__main__":
    main()
