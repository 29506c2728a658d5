"""ConSERT (Yan et al., 2021) in one file: two views of a sentence at the embedding layer find each other.

    python examples/papers/consert.py [STEPS]

`isotrope train CORPUS --recipe consert` does the same with the paper's numbers, resume and several processes.
"""

from __future__ import annotations

import random
import sys

import torch

import isotrope
from isotrope.evaluation import load_pairs, score_pairs
from isotrope.objectives import nt_xent
from isotrope.text import bundled_sentences
from isotrope.views.embedding.beside import Seen, in_one_pass
from isotrope.views.embedding.feature_cutoff import FeatureCutoff
from isotrope.views.embedding.shuffle import Shuffle

TEMPERATURE, BATCH = 0.1, 96  # section 4.1


def main(steps: int = 60) -> None:
    """Tunes the bundled encoder on the bundled sentences; prints Spearman x 100 before and after."""
    torch.manual_seed(1)
    chance = random.Random(1)
    sentences, pairs = bundled_sentences(), load_pairs("bundled")
    encoder = isotrope.load("bundled", pooling="mean")
    print(f"before: {score_pairs(encoder, pairs).spearman['all']:.2f}")

    first = FeatureCutoff(rate=0.2, at="embeddings")  # the best pair of Figure 5
    second = Shuffle()
    optimiser = torch.optim.AdamW(encoder.parameters(), lr=2e-4)
    for _ in range(steps):  # the encoder stays in eval mode: "we remove the default dropout layer"
        batch = encoder.batch(chance.sample(sentences, BATCH))
        a, b = in_one_pass(encoder, [Seen(batch, first), Seen(batch, second)])  # (n, dim) each
        loss = nt_xent(a, b, TEMPERATURE)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()

    print(f"after:  {score_pairs(encoder, pairs).spearman['all']:.2f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
