"""What `precision = "auto"` is: bfloat16 where the hardware multiplies in it and the encoder's similarities bear it."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np

from isotrope.encoders import Encoder, load
from isotrope.encoders.devices import default_device
from isotrope.encoders.precision import encoding_in, fastest_precision
from isotrope.recipes.schema import Recipe
from isotrope.text import bundled_sentences
from isotrope.training.run_folder import RUN, check_run, read_json, undamaged
from isotrope.training.stage_text import tell_of_input

EXACT = "float32"
SENTENCES = 32
# Correlation of an encoder's cosines in two precisions: 0.9997 and more for `bundled`, `small` and `minilm`. It is low
# where a few large numbers, the same for all texts, outweigh those that tell texts apart (docs/benchmarks.md).
AGREEING = 0.99


def settled_precision(recipe: Recipe, model: Any, folder: Path, *, resume: bool) -> dict[str, str]:
    """Settings that name what `auto` is here; a resumed run computes as it began, whatever the hardware has now."""
    automatic = [k for k, one in enumerate(recipe.stages) if one.training.precision == "auto"]
    if not automatic:
        return {}
    began = _as_begun(folder) if resume else []
    suitable = EXACT if all(k < len(began) for k in automatic) else suitable_precision(model)
    return {f"stages.{k}.training.precision": began[k] if k < len(began) else suitable for k in automatic}


def _as_begun(folder: Path) -> list[str]:
    check_run(folder, resume=True)
    settings = read_json(folder / RUN)
    with undamaged(folder / RUN):
        return [stage["training"]["precision"] for stage in settings.get("stages", [settings])]


def suitable_precision(model: Any) -> str:
    """The fastest in which a model's similarities are what they are in float32."""
    fastest = fastest_precision(default_device())
    if fastest == EXACT:
        return EXACT
    encoder = deepcopy(load(model))  # whose precision may be changed; what can't be copied can't be tuned, and says so
    found = agreement(encoder, fastest)
    if found >= AGREEING:
        return fastest
    tell_of_input(f"{fastest} would change the similarities of {encoder.name} (correlation {found:.2f}): using {EXACT}")
    return EXACT


def agreement(encoder: Encoder, precision: str) -> float:
    """Correlation of the cosines of some sentences with those in float32; 0 where all are the same."""
    cosines = []
    for one in (EXACT, precision):
        with encoding_in(one, encoder):
            vectors = encoder.encode(bundled_sentences()[:SENTENCES]).astype(np.float64)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        cosines.append((vectors @ vectors.T)[np.triu_indices(SENTENCES, 1)])
    if min(np.ptp(one) for one in cosines) == 0:
        return 0.0
    return float(np.corrcoef(*cosines)[0, 1])
