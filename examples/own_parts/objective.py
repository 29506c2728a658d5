"""An objective of one's own: a hinge. A pure function of tensors; its keyword-only arguments are what TOML may say.

[objective]
kind = "objective:hinge"   # module:name; run from this folder, or install it as a package
margin = 0.2
"""

from __future__ import annotations

from torch import Tensor

import isotrope
from isotrope.objectives import cosine
from isotrope.text import bundled_sentences


def hinge(c: Tensor, h: Tensor, *, margin: float = 0.3) -> Tensor:
    """max(0, margin - cos(c_i, h_i) + cos(c_i, h_j)), mean over i and j != i. `c` and `h` are (n, d)."""
    alike = cosine(c, h)  # (n, n), partners on the diagonal
    n = len(alike)
    over = (margin - alike.diagonal()[:, None] + alike).clamp(min=0)
    return (over.sum() - n * margin) / (n * (n - 1))  # what is on the diagonal is the margin itself


def main(output: str = "runs/hinge", steps: int = 20) -> None:
    """ConSERT's views under the hinge."""
    objective = {"objective.kind": hinge, "objective.margin": 0.2}
    run = isotrope.train(bundled_sentences(), "consert:quick", output=output, steps=steps, set=objective)
    print(run.recipe.stages[0].objective, run.figures["uniformity"])


if __name__ == "__main__":
    main()
