"""Scored pairs by which the checkpoints of a stage are told apart."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from isotrope.evaluation import load_pairs, read_own_pairs, score_pairs
from isotrope.evaluation.correlation import best_of_four, check_gold
from isotrope.io.errors import IsotropeError
from isotrope.recipes.schema import Recipe
from isotrope.training.monitor import Score


def development_sets(dev: str | Path | Sequence[str | Path] | None, stages: int) -> list[str | None]:
    """One for each stage: the same for all where one was given."""
    if dev is None:
        return [None] * stages
    sets: list[str | None] = [str(dev)] if isinstance(dev, str | Path) else [str(one) for one in dev]
    if len(sets) not in (1, stages):
        raise IsotropeError(f"{len(sets)} development sets for {stages} stage(s); give one, or one for each stage")
    return sets * stages if len(sets) == 1 else sets


def development_scores(sets: Sequence[str | None], data: str | Path | None, recipe: Recipe) -> list[Score | None]:
    """Spearman x 100 on the development split of a task, or on a file of scored pairs, as each stage selects by it."""
    return [
        None if one is None else development_score(one, data, stage.training.selection)
        for one, stage in zip(sets, recipe.stages, strict=True)
    ]


def development_score(dev: str, data: str | Path | None, selection: str = "cosine") -> Score:
    """Spearman x 100 of an encoder on one development set."""
    if Path(dev).is_file() or Path(dev).suffix:
        pairs = read_own_pairs(dev).pairs
    else:
        pairs = load_pairs(dev, data=Path(data) if data else None, split="dev")
    check_gold(np.array(pairs.scores), dev)
    if selection == "best-of-four":
        return lambda encoder: best_of_four(encoder, pairs)
    return lambda encoder: score_pairs(encoder, pairs).spearman["all"]
