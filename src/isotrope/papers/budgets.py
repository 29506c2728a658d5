"""How many steps a row may take, and how long that will be: by a step that was measured here."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from isotrope.encoders import load
from isotrope.io.atomic import whole_or_nothing
from isotrope.io.errors import IsotropeError, one_line
from isotrope.io.progress import Display, silence
from isotrope.papers.jobs import Job
from isotrope.papers.published import Budget
from isotrope.papers.workshop import Workshop
from isotrope.text.sources import matching_rows
from isotrope.training.candidates import Candidate
from isotrope.training.development import development_score
from isotrope.training.interruption import Interrupted
from isotrope.training.run import train
from isotrope.training.run_folder import read_json

QUICK = 40  # optimiser steps of a quick row, all stages together
WATCHED = 4  # evaluations of a quick row
TIMED = (1, 4)  # steps of the two short runs between which a step is measured


def within(budget: Budget, job: Job, texts: int) -> Job:
    """The job with the steps of the budget: `full` are the recipe's own."""
    recipe = job.resolved()
    if budget == "full" or recipe is None:
        return job
    candidate = Candidate(recipe.name, recipe)
    steps = min(QUICK, candidate.steps(texts))
    every = max(1, steps // WATCHED)
    chosen: dict[str, Any] = {"training.eval_steps": every, "training.save_steps": every}
    return replace(job, set={**job.set, **chosen, **candidate.settings(steps, texts)})


class Clock:
    """Seconds that jobs will take, by short runs of each recipe; what was measured is kept in the folder."""

    def __init__(self, workshop: Workshop) -> None:
        self.workshop, self.file = workshop, workshop.folder / "clock.json"
        self.known: dict[str, Any] = read_json(self.file) if self.file.is_file() else {}
        self.problems: dict[str, str] = {}  # by job: why it can't be run
        self._told = False  # whether it was said that runs are timed

    def seconds(self, jobs: Sequence[Job]) -> float:
        """Of all trainings that are not done yet; reading, fitting and measuring are quick beside them."""
        trainings = [job.training for job in jobs if job.training and not self.workshop.is_trained(job)]
        return sum(self._of(job) for job in {job.name: job for job in trainings}.values())

    def _of(self, job: Job) -> float:
        """Of one; 0 for what can't be run, which is a problem."""
        recipe = job.resolved()
        assert recipe is not None
        try:
            start, per_row, dev = self._measured(job)
            texts = self.workshop.texts.count(job.text)
        except Interrupted:
            raise
        except IsotropeError as error:
            self.problems[job.name] = one_line(str(error), 200)
            return 0.0
        candidate = Candidate(recipe.name, recipe)
        steps = candidate.steps(min(texts, job.texts or texts))
        numbers = recipe.stages[-1].training
        rows = numbers.batch_size * numbers.gradient_accumulation
        return start + steps * rows * per_row + (steps / numbers.eval_steps) * dev

    def _measured(self, job: Job) -> tuple[float, float, float]:
        """Seconds to begin, of a step by its rows, and of an evaluation; by recipe and model, measured once."""
        key = f"{job.recipe} {job.model}"
        if key not in self.known:
            self._tell()
            with silence():
                self.known[key] = (*self._timed(job), self._scored(job))
            self.workshop.folder.mkdir(parents=True, exist_ok=True)
            with whole_or_nothing(self.file) as path:
                path.write_text(json.dumps(self.known, indent=2) + "\n", encoding="utf-8")
        start, per_row, dev = self.known[key]
        return start, per_row, dev

    def _tell(self) -> None:
        """Why nothing is seen for a while; once."""
        if not self._told:
            Display("clock").say("Timing each recipe on a few rows ...")
        self._told = True

    def _timed(self, job: Job) -> tuple[float, float]:
        """Two short runs on a few rows: what one costs whatever it does, and what each row of a step adds."""
        recipe = job.resolved()
        assert recipe is not None
        rows = max(stage.training.batch_size for stage in recipe.stages)
        files = self.workshop.texts.files(job.text)
        wanted = dict.fromkeys(column for stage in recipe.stages for column in stage.columns)
        some = [self._some(files, stage.columns, rows * (max(TIMED) + 1)) for stage in recipe.stages] if wanted else []
        made_first = TIMED[:1] if any(stage.views.texts for stage in recipe.stages) else ()  # views, kept in the cache
        took = []
        for steps in (*made_first, *TIMED):
            with tempfile.TemporaryDirectory() as folder:
                given = [self._table(Path(folder) / f"{i}.jsonl", one) for i, one in enumerate(some)]
                began = time.monotonic()
                chosen = {**job.set, "training.steps": steps, "training.eval_steps": 1000, "training.save_steps": 1000}
                chosen = {key: value for key, value in chosen.items() if not key.startswith("stages.")}
                train(given, job.recipe, job.model, Path(folder) / "run", set=chosen, teacher=job.teacher)
                took.append(time.monotonic() - began)
        short, long = took[-2:]
        step = max(long - short, 0.0) / (TIMED[1] - TIMED[0])
        return max(short - step, 0.0), step / rows

    def _some(self, files: list[Path], columns: tuple[str, ...], count: int) -> list[dict[str, Any]]:
        for wanted in (columns, ("text",)):  # a column that is made of the text is not there yet
            with suppress(IsotropeError):
                for _, rows in matching_rows(files, wanted):
                    return list(islice(rows, count))
        return []

    def _table(self, file: Path, rows: list[dict[str, Any]]) -> Path:
        file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return file

    def _scored(self, job: Job) -> float:
        if job.dev is None:
            return 0.0
        score, encoder = development_score(job.dev, self.workshop.data), load(job.model)
        began = time.monotonic()
        score(encoder)
        return time.monotonic() - began
