"""Scored pairs by which the checkpoints of a stage are told apart."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from isotrope.evaluation import Pairs, load_pairs, read_own_pairs, score_pairs
from isotrope.evaluation.correlation import best_of_four, check_gold
from isotrope.evaluation.data.own import OwnPairs
from isotrope.evaluation.results.printing import many
from isotrope.io.errors import IsotropeError
from isotrope.recipes.schema import Recipe
from isotrope.training.monitor import Score
from isotrope.training.stage_text import tell_of_input


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
    pairs = {one: development_pairs(one, data) for one in sets if one is not None}
    return [
        None if one is None else score_by(pairs[one], stage.training.selection)
        for one, stage in zip(sets, recipe.stages, strict=True)
    ]


def development_score(dev: str, data: str | Path | None) -> Score:
    """Spearman x 100 of an encoder on one development set."""
    return score_by(development_pairs(dev, data))


def development_pairs(dev: str, data: str | Path | None) -> Pairs:
    """Those of a task's development split, or of a file, of which it says what was read."""
    if Path(dev).is_file() or Path(dev).suffix:
        found = read_own_pairs(dev)
        pairs = found.pairs
    else:
        found, pairs = None, load_pairs(dev, data=Path(data) if data else None, split="dev")
    check_gold(np.array(pairs.scores), dev)
    if found is not None:
        tell_of_input(_account(dev, found))
    return pairs


def score_by(pairs: Pairs, selection: str = "cosine") -> Score:
    """Spearman x 100 of an encoder on some pairs."""
    if selection == "best-of-four":
        return lambda encoder: best_of_four(encoder, pairs)
    return lambda encoder: score_pairs(encoder, pairs).spearman["all"]


def _account(dev: str, found: OwnPairs) -> str:
    left_out = f", {many(found.left_out, 'row')} without text or score left out" if found.left_out else ""
    only = set(found.pairs.scores) <= {0.0, 1.0}
    alike = "; only 0 and 1 among them: Spearman's correlation ranks encoders as the area under the ROC curve does"
    return f"{dev}: {many(len(found.pairs.scores), 'graded pair')}{left_out}{alike if only else ''}"
