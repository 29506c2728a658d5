"""Paper 4 in one file: a frozen encoder teaches through sentences of the same meaning, with a memory queue.

    python examples/papers/parallel.py [STEPS [TEACHER [PAIRS.tsv]]]

PAIRS has a sentence in the student's language and one in the teacher's, separated by a tab. Without it, bundled pairs
that people found alike stand in for translations. `isotrope train PAIRS --recipe parallel --teacher MODEL` does the
same with the paper's numbers, resume and several processes.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

import torch

import isotrope
from isotrope.evaluation import load_pairs, score_pairs
from isotrope.heads.queue import MemoryQueue
from isotrope.objectives import info_nce

TEMPERATURE, BATCH, QUEUE, ALIKE = 0.05, 32, 1000, 4.0


def read(file: str | None) -> list[tuple[str, str]]:
    """Pairs of one meaning."""
    if file:
        lines = Path(file).read_text(encoding="utf-8").splitlines()
        return [(mine, theirs) for mine, _, theirs in (line.partition("\t") for line in lines) if theirs]
    graded = load_pairs("bundled", split="dev")
    rows = zip(graded.sentences1, graded.sentences2, graded.scores, strict=True)
    return [(one, other) for one, other, score in rows if score >= ALIKE]


def main(steps: int = 40, teacher: str = "bundled", file: str | None = None) -> None:
    """Tunes the bundled encoder; prints Spearman x 100 before and after."""
    torch.manual_seed(1)
    chance = random.Random(1)
    rows, pairs = read(file), load_pairs("bundled")
    student, guide = isotrope.load("bundled", pooling="mean"), isotrope.load(teacher)
    print(f"before: {score_pairs(student, pairs).spearman['all']:.2f}")

    meet = torch.nn.Linear(student.dim, guide.dim) if student.dim != guide.dim else torch.nn.Identity()
    queue = MemoryQueue(QUEUE, guide.dim)
    optimiser = torch.optim.AdamW([*student.parameters(), *meet.parameters()], lr=1e-4)
    student.train()
    for _ in range(steps):
        mine, theirs = zip(*chance.sample(rows, min(BATCH, len(rows))), strict=True)
        with torch.no_grad():
            keys = guide(guide.batch(theirs))  # the teacher reads with its own tokenizer
        loss = info_nce(meet(student(student.batch(mine))), keys, TEMPERATURE, queue=queue())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        queue.push(keys)

    print(f"after:  {score_pairs(student.eval(), pairs).spearman['all']:.2f}")


if __name__ == "__main__":
    given = sys.argv[1:]
    main(*map(int, given[:1]), *given[1:])
