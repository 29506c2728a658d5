"""Another language: an English encoder teaches a model of that language, through translations.

    python examples/tutorials/language.py [TRANSLATIONS.tsv] [MODEL] [OUTPUT] [STEPS]

The table has the columns `source` (English) and `target`. MODEL should have the vocabulary of the language:
`deepset/gbert-base` of the Hub, or one that `isotrope pretrain` made of a few thousand sentences. So that it runs
without a network, it is the English `bundled` here, with forty German pairs: it shows the way, and learns those by
heart.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import spearmanr

import isotrope

HERE = Path(__file__).parent
TEACHER = "small"


def agreement(one: Any, other: Any) -> float:
    """Rank correlation of two matrices of cosines, each pair of sentences once."""
    pairs = np.triu_indices(len(one), 1)
    return float(spearmanr(one[pairs], other[pairs]).statistic)


def main(
    table: str = str(HERE / "translations.tsv"),
    model: str = "bundled",
    output: str = "runs/language",
    steps: str = "20",
) -> None:
    """Teach through translations; before and after: are sentences as alike as the teacher finds their translations?"""
    with open(table, encoding="utf-8", newline="") as file:
        pairs = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    count = int(steps)
    run = isotrope.train(
        table,
        "parallel-teacher:bundled",  # a sentence's vector is to be that of its translation
        model=model,
        teacher=TEACHER,
        output=output,
        steps=count,
        set={
            "training.batch_size": min(128, len(pairs) // 2),
            "training.learning_rate": 5e-4,
            "training.eval_steps": count,
            "training.save_steps": count,
        },
    )
    source, target = ([pair[side] for pair in pairs] for side in ("source", "target"))
    wanted = isotrope.load(TEACHER).similarity(source)
    for name, encoder in {"before": isotrope.load(model), "after": run.encoder}.items():
        print(f"{name}: {agreement(encoder.similarity(target), wanted):.2f}")
    print("(on the sentences that it was taught by; keep some back to see what it is worth)")


if __name__ == "__main__":
    main(*sys.argv[1:])
