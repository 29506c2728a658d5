"""What `tune` tries: recipes that read plain text, how many steps they take and about how long."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isotrope import recipes
from isotrope.io.errors import IsotropeError
from isotrope.recipes.schema import Recipe, Stage
from isotrope.text.sources import kind_of
from isotrope.training.halving import Contender
from isotrope.training.stage_text import PLAIN
from isotrope.training.text_views import made_columns

# Each is quick and needs nothing but the text. Left out: what is made for raw encoders and harms good ones (the
# contrast of the papers, at their learning rates), and what has to back-translate the text first (bsl), which takes
# longer than all others together. What trains a sentence encoder further is tried where graded pairs can tell whether
# that helped; no figure without labels can.
SENTENCE_ENCODER = ("smooth", "smooth:topics", "smooth:duplicates")
GRADED = ("consert:gentle", "neighbours")
RAW = ("raw", "raw:topics", "consert:bundled", "simcse:mean")
LEARNING = 3  # a step forward and back costs about as much as so many forward
VIEWS = 2

Given = str | Path | Recipe | Mapping[str, Any]


@dataclass(frozen=True)
class Candidate:
    """A recipe under the name that it was given by."""

    name: str
    recipe: Recipe

    @property
    def folder(self) -> str:
        """The name as that of a folder."""
        variant = "" if self.recipe.variant == "paper" else f"-{self.recipe.variant}"
        return re.sub(r"[^\w.+-]+", "-", self.recipe.name + variant)

    def steps(self, texts: int) -> int:
        """Optimiser steps by the recipe's own numbers, of all stages; 0 for what has none."""
        return sum(_steps(stage, texts) for stage in self.recipe.stages)

    def settings(self, steps: int, texts: int) -> dict[str, int]:
        """What has the recipe take about so many steps, each stage its share of them."""
        share = steps / max(self.steps(texts), 1)
        return {
            f"stages.{number}.training.steps": max(1, round(share * _steps(stage, texts)))
            for number, stage in enumerate(self.recipe.stages)
            if stage.learns
        }

    def contender(self, texts: int, per_text: float, judging: float) -> Contender:
        """What it will cost, by the seconds in which the encoder encodes a text and in which a trial is judged."""
        stages = self.recipe.stages
        read = sum(len(stage.frozen) * texts for stage in stages)
        read += sum(min(stage.fit.texts, texts) for stage in stages if stage.fit)
        training = [(_steps(stage, texts), stage.training) for stage in stages if stage.learns]
        learnt = sum(steps * one.batch_size * one.gradient_accumulation for steps, one in training)
        steps = self.steps(texts)
        step = LEARNING * VIEWS * learnt * per_text / max(steps, 1)
        return Contender(self.name, steps, judging + read * per_text, step)


def default_candidates(*, raw: bool, graded: bool) -> list[Candidate]:
    """What is tried where nobody says what; `graded`: there is a development set."""
    known, suited = recipes.names(), RAW if raw else (*SENTENCE_ENCODER, *(GRADED if graded else ()))
    return check_candidates([name for name in suited if name.partition(":")[0] in known])


def check_candidates(given: Sequence[Given]) -> list[Candidate]:
    """The recipes; refuses what can't be compared on plain text, and two of one name."""
    found = [_candidate(one) for one in given]
    if not found:
        raise IsotropeError("no candidate was given; leave out candidates= for those that suit", argument="candidates=")
    for number, one in enumerate(found):
        if one.folder in [other.folder for other in found[:number]]:
            raise IsotropeError(f"candidate {one.name}: given twice; every candidate needs a name of its own")
        for stage in one.recipe.stages:
            if set(stage.columns) - {*PLAIN, *made_columns(stage)}:
                raise IsotropeError(
                    f"candidate {one.name} reads {kind_of(stage.columns)}; candidates are compared on plain text, so "
                    "each must read plain text: leave it out"
                )
    return found


def _candidate(given: Given) -> Candidate:
    recipe = recipes.load(given)
    plain = recipe.name if recipe.variant == "paper" else recipe.full_name
    return Candidate(str(given) if isinstance(given, str | Path) else plain, recipe)


def _steps(stage: Stage, texts: int) -> int:
    if not stage.learns:
        return 0
    one = stage.training
    return one.steps or max(1, round(one.epochs * texts / (one.batch_size * one.gradient_accumulation)))
