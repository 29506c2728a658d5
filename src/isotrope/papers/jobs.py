"""What a row asks for, as jobs: one encoder each, under a name that says all that decides it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from isotrope import recipes
from isotrope.baselines.base import BASELINES
from isotrope.io.hashes import digest
from isotrope.papers.published import Making
from isotrope.recipes.schema import Recipe
from isotrope.training.assemble import takes_teacher


@dataclass(frozen=True)
class Job:
    """An encoder that is to be made and measured: what decides it, and its seed.

    `name` is that of its folder; two tables that ask for the same share it.
    """

    model: str
    recipe: str | None = None
    set: Mapping[str, Any] = field(default_factory=dict)
    text: str = ""
    texts: int | None = None
    teacher: str | None = None
    dev: str | None = None
    baseline: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    fitted_on: str | None = None
    pooling: str | None = None
    seed: int | None = None

    @property
    def training(self) -> Job | None:
        """What has to be trained for it, which other jobs may need too; None if nothing is."""
        if self.recipe is None:
            return None
        return replace(self, baseline=None, options={}, fitted_on=None, pooling=None)

    @property
    def name(self) -> str:
        """`sg-opt-bundled-1f0c88aa-2`: what it is, a hash of the rest, and the seed."""
        values = {key: value for key, value in vars(self).items() if value and key != "seed"}
        what = "-".join(filter(None, (self.recipe, self.baseline))) or f"untuned-{self.pooling or 'own'}"
        words = [what, Path(self.model).name, digest(json.dumps(values, sort_keys=True, default=str), 4).hex()]
        seed = [] if self.seed is None else [str(self.seed)]
        return "-".join(re.sub(r"[^\w.+-]+", "-", word) for word in [*words, *seed])

    def resolved(self) -> Recipe | None:
        """The recipe with its settings, checked."""
        return None if self.recipe is None else recipes.load(self.recipe, self.set)


def jobs_of(making: Making, seeds: Sequence[int], **given: Any) -> list[Job]:
    """One job for each seed, or just one where the seed decides nothing. `given` has what the row leaves open.

    All rows have the numbers for the main model, which is the `given` one: that of a row may stand in for another.
    """
    chosen = {key: value for key, value in making.model_dump().items() if value not in (None, {})}
    job = Job(**{**given, **chosen, "set": {**making.set, **given.get("set", {})}})
    if job.recipe is None:
        text = job.text if _is_fitted_on_text(job) else ""
        job = replace(job, set={}, dev=None, teacher=None, text=text, texts=job.texts if text else None)
    else:
        job = replace(job, recipe=variant_for(job.recipe, given.get("model", job.model)))
        recipe = job.resolved()
        job = replace(job, teacher=job.teacher if recipe and takes_teacher(recipe) else None)
    return [replace(job, seed=seed) for seed in seeds] if _is_seeded(job) else [job]


def variant_for(recipe: str, model: str) -> str:
    """The recipe with the numbers for that model, where it has a variant of the model's name."""
    name, _, variant = recipe.partition(":")
    return f"{name}:{model}" if not variant and model in recipes.variants(name) else recipe


def untuned(job: Job) -> Job:
    """The model as it was, pooled as the job's encoder is."""
    recipe = job.resolved()
    own = recipe.stages[-1].pooling.evaluation if recipe else None
    return Job(model=job.model, pooling=job.pooling or (str(own) if own else None))


def baseline_fields(kind: str) -> set[str]:
    """What a baseline can be told."""
    return set(BASELINES.resolve(kind).model_fields)


def _is_seeded(job: Job) -> bool:
    return job.recipe is not None or (job.baseline is not None and "seed" in baseline_fields(job.baseline))


def _is_fitted_on_text(job: Job) -> bool:
    return job.baseline is not None and BASELINES.resolve(job.baseline).text == "needed"
