"""SG-OPT (Kim, Yoo & Lee, 2021) in one file: every layer of a frozen copy guides [CLS].

    python examples/papers/sg_opt.py [STEPS]

`isotrope train CORPUS --recipe sg-opt` does the same with the paper's numbers, resume and several processes.
"""

from __future__ import annotations

import copy
import random
import sys

import torch

import isotrope
from isotrope.evaluation import load_pairs, score_pairs
from isotrope.heads.projection import Projection
from isotrope.objectives import anchor, self_guided
from isotrope.text import bundled_sentences

TEMPERATURE, ANCHOR, BATCH = 0.01, 0.1, 16  # Table 8


def layers_of(encoder: isotrope.Encoder, sentences: list[str]) -> torch.Tensor:
    """h_i,k: the mean of the tokens at every layer, (sentences, layers, dim)."""
    batch = encoder.batch(sentences)
    pooled = []
    for state in encoder.backbone.hidden_states(batch):
        tokens, mask = batch.unpack(state)  # (sentences, longest, dim)
        pooled.append((tokens * mask[..., None]).sum(1) / mask.sum(1, keepdim=True))
    return torch.stack(pooled, dim=1)


def main(steps: int = 150) -> None:
    """Tunes the bundled encoder on the bundled sentences; prints Spearman x 100 before and after."""
    torch.manual_seed(1)
    chance = random.Random(1)
    sentences, pairs = bundled_sentences(), load_pairs("bundled")
    student = isotrope.load("bundled", pooling="cls")
    print(f"before: {score_pairs(student, pairs).spearman['all']:.2f}")

    frozen = copy.deepcopy(student).requires_grad_(False)  # BERT_F
    width = 4 * student.dim  # the paper has 4,096, which is slow for so small an encoder
    project = Projection(width=width).build(student.dim, width, std=0.02)  # f
    student.backbone.model.embeddings.requires_grad_(False)  # footnote 5
    learning = [p for p in (*student.parameters(), *project.parameters()) if p.requires_grad]
    optimiser = torch.optim.AdamW(learning, lr=2e-4)
    student.train()
    for _ in range(steps):
        some = chance.sample(sentences, BATCH)
        c = project(student(student.batch(some)))  # (n, width)
        with torch.no_grad():
            h = layers_of(frozen, some)
        loss = self_guided(c, project(h), TEMPERATURE, "opt3")
        loss = loss + ANCHOR * anchor(student.backbone.model, frozen.backbone.model)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()

    print(f"after:  {score_pairs(student.eval(), pairs).spearman['all']:.2f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
