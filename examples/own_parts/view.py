"""A view of one's own: Gaussian noise on the embeddings. Its keyword-only arguments are what TOML may say.

[views.first]
kind = "view:noise"        # module:name; run from this folder, or install it as a package
std = 0.1
"""

from __future__ import annotations

import torch

import isotrope
from isotrope.encoders.packing import Batch
from isotrope.text import bundled_sentences


def noise(embeddings: torch.Tensor, batch: Batch, *, std: float = 0.05) -> torch.Tensor:
    """Embeddings (rows, width, dim), each number moved a little."""
    return embeddings + std * torch.randn_like(embeddings)


def main(output: str = "runs/noise", steps: int = 20) -> None:
    """Noise on one side, the sentence as it is on the other."""
    views = {"views.first.kind": noise, "views.first.std": 0.1}
    run = isotrope.train(bundled_sentences(), "consert:quick", output=output, steps=steps, set=views)
    print(run.recipe.stages[0].views.first, run.figures["uniformity"])


if __name__ == "__main__":
    main()
