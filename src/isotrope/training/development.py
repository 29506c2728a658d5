"""Scored pairs by which the checkpoints of a stage are told apart."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from isotrope.encoders import Encoder
from isotrope.evaluation import Pairs, load_pairs, read_own_pairs
from isotrope.evaluation.correlation import SELECTIONS, check_gold, pair_vectors
from isotrope.evaluation.data.own import OwnPairs
from isotrope.evaluation.geometry import alignment, uniformity
from isotrope.evaluation.results.printing import many
from isotrope.io.errors import IsotropeError
from isotrope.recipes.schema import Recipe
from isotrope.training.monitor import Score
from isotrope.training.stage_text import tell_of_input

ALIKE = 0.8  # of the way from the lowest grade to the highest: pairs above it mean the same
SPREAD = 5_000  # sentences at most whose uniformity is taken, since every pair of them counts


def development_sets(dev: str | Path | Sequence[str | Path] | None, stages: int) -> list[str | None]:
    """One for each stage: the same for all where one was given."""
    if dev is None:
        return [None] * stages
    sets: list[str | None] = [str(dev)] if isinstance(dev, str | Path) else [str(one) for one in dev]
    if len(sets) not in (1, stages):
        raise IsotropeError(f"{len(sets)} development sets for {stages} stage(s); give one, or one for each stage")
    return sets * stages if len(sets) == 1 else sets


def development_scores(sets: Sequence[str | None], data: str | Path | None, recipe: Recipe) -> list[Score | None]:
    """Figures on the development split of a task, or on a file of scored pairs, as each stage selects by them."""
    pairs = {one: development_pairs(one, data) for one in sets if one is not None}
    return [
        None if one is None else score_by(pairs[one], stage.training.selection)
        for one, stage in zip(sets, recipe.stages, strict=True)
    ]


def development_score(dev: str, data: str | Path | None) -> Score:
    """The figures of an encoder on one development set."""
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
    """`spearman` x 100 of an encoder on some pairs, and how their vectors lie.

    The latter as Gao et al. 2021 (SimCSE) have it on STS-B: `pairs_alignment` is that of the pairs graded above 4 of 5,
    `pairs_uniformity` that of all sentences.
    """
    gold = np.array(pairs.scores)
    alike = gold - gold.min() > ALIKE * np.ptp(gold)

    def score(encoder: Encoder) -> dict[str, float]:
        vectors, first, second = pair_vectors(encoder, pairs)
        return {
            "spearman": SELECTIONS[selection](first, second, gold),
            "pairs_alignment": alignment(first[alike], second[alike]),
            "pairs_uniformity": uniformity(vectors[:SPREAD]),
        }

    return score


def _account(dev: str, found: OwnPairs) -> str:
    left_out = f", {many(found.left_out, 'row')} without text or score left out" if found.left_out else ""
    only = set(found.pairs.scores) <= {0.0, 1.0}
    alike = "; all scores are 0 or 1: Spearman's correlation ranks encoders as the area under the ROC curve does"
    return f"{dev}: {many(len(found.pairs.scores), 'graded pair')}{left_out}{alike if only else ''}"
