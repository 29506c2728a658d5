"""The bundled encoder before and after tuning, on the bundled text."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np

from isotrope.encoders import Encoder, load
from isotrope.evaluation import Pairs, load_pairs
from isotrope.evaluation.correlation import correlate, cosines
from isotrope.evaluation.geometry.measures import alignment, uniformity
from isotrope.text import bundled_sentences
from isotrope.training.run import train

UNTUNED = ("cls", "mean")
RECIPES = {"sg-opt:bundled": None, "consert:bundled": 60, "simcse:bundled": 120}  # with steps: fewer for little text
ALIKE = 4.0  # pairs graded so or higher are the positive pairs of alignment


class DemoRow(NamedTuple):
    """What an encoder reaches on the bundled pairs."""

    recipe: str
    pooling: str
    spearman: float  # x 100
    alignment: float  # of the pairs that mean the same
    uniformity: float  # of all sentences


def demo(output: str | Path | None = None, *, device: str | None = None) -> list[DemoRow]:
    """Tunes the bundled encoder by three recipes on the bundled sentences, and measures it before and after.

    Args:
        output: a folder in which the runs are kept; without it they are thrown away.
        device: `cpu`, `cuda`, `mps` ...; by default the fastest there is.
    """
    pairs = load_pairs("bundled")
    rows = [_row("no tuning", load(pooling=pooling, device=device), pairs) for pooling in UNTUNED]
    with tempfile.TemporaryDirectory() as scratch:
        for recipe, steps in RECIPES.items():
            folder = Path(output or scratch) / recipe.replace(":", "-")
            run = train(bundled_sentences(), recipe, output=folder, steps=steps, dev="bundled", device=device)
            rows.append(_row(recipe, run.encoder, pairs))
    return rows


def _row(recipe: str, encoder: Encoder, pairs: Pairs) -> DemoRow:
    vectors = encoder.encode([*pairs.sentences1, *pairs.sentences2])
    first, second = vectors[: len(pairs.scores)], vectors[len(pairs.scores) :]
    alike = [i for i, grade in enumerate(pairs.scores) if grade >= ALIKE]
    spearman = correlate(cosines(first, second), np.array(pairs.scores), "bundled").spearman
    return DemoRow(recipe, str(encoder.pooling), spearman, alignment(first[alike], second[alike]), uniformity(vectors))
