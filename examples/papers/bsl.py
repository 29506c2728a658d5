"""BSL (Zhang et al., 2021) in one file: predict a momentum copy's vector of another wording, without negatives.

    python examples/papers/bsl.py [STEPS]

The other wording is a masked language model's, which needs nothing but the bundled encoder; the paper translates each
sentence and back, which helps more (docs/results.md). `isotrope train CORPUS --recipe bsl` does that with the paper's
numbers. Expect 22.57 before and about 24 after, which is no large gain on 220 pairs. With batches of 64 and neither
warm-up nor decay, the 110 pairs for development rose as much (15.9 to 18.8), but these fell to 19.35.
"""

from __future__ import annotations

import copy
import random
import sys

import torch

import isotrope
from isotrope.evaluation import load_pairs, score_pairs
from isotrope.heads.predictor import Predictor
from isotrope.objectives import symmetric_bootstrap
from isotrope.text import bundled_sentences

MOMENTUM, BATCH, WARMUP = 0.99, 32, 0.2


@torch.no_grad()
def follow(target: torch.nn.Module, online: torch.nn.Module) -> None:
    """Equation 4: xi <- delta xi + (1 - delta) theta."""
    for mine, theirs in zip(target.parameters(), online.parameters(), strict=True):
        mine.lerp_(theirs, 1 - MOMENTUM)


def slowly(done: float) -> float:
    """The share of the learning rate, which rises and falls: the predictor must learn something before the encoder."""
    return min(done / WARMUP, (1 - done) / (1 - WARMUP))


def main(steps: int = 60) -> None:
    """Tunes the bundled encoder on the bundled sentences; prints Spearman x 100 before and after."""
    torch.manual_seed(1)
    chance = random.Random(1)
    wordings = isotrope.make_views(bundled_sentences()[: max(2 * BATCH, 8 * steps)], {"view1": "mlm"})
    rows, pairs = list(wordings), load_pairs("bundled")
    online = isotrope.load("bundled", pooling="mean")
    print(f"before: {score_pairs(online, pairs).spearman['all']:.2f}")

    target = copy.deepcopy(online).requires_grad_(False)
    predict = Predictor(ratio=8).build(online.dim, online.dim, std=0.02)
    optimiser = torch.optim.AdamW([*online.parameters(), *predict.parameters()], lr=1e-4)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: slowly(step / steps))
    online.train()
    for _ in range(steps):
        some = chance.sample(rows, BATCH)
        one, other = (online.batch([row[column] for row in some]) for column in ("text", "view1"))
        z1, z2 = predict(online(one)), predict(online(other))
        with torch.no_grad():
            h1, h2 = target(one), target(other)
        loss = symmetric_bootstrap(z1, h2, z2, h1)  # equation 2
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
        follow(target, online)

    print(f"after:  {score_pairs(online.eval(), pairs).spearman['all']:.2f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
