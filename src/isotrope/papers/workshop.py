"""Where jobs are done: each once, whoever asks for it, and by one process at a time.

folder/
  texts/           what is learnt from
  runs/NAME/       ordinary run folders, one for each training
  figures/NAME.json  what was measured of each job's encoder
  points/KIND/NAME.json  what a picture of single pairs shows of it
  leases/NAME      who works on which of them now
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isotrope.baselines.base import Made
from isotrope.baselines.fitting import fit_baseline
from isotrope.encoders import load_any
from isotrope.evaluation import evaluate
from isotrope.evaluation.models import Model, open_model
from isotrope.evaluation.tasks import Task, load_pairs
from isotrope.io.atomic import whole_or_nothing
from isotrope.io.errors import IsotropeError
from isotrope.io.hashes import digest
from isotrope.io.leases import leased, remove_abandoned
from isotrope.io.names import RUN
from isotrope.papers.jobs import Job, baseline_fields
from isotrope.papers.points import POINTS, Points
from isotrope.papers.texts import Texts
from isotrope.training.record import RECORD
from isotrope.training.run import train
from isotrope.training.run_folder import LOG, read_json, stage_folders
from isotrope.training.run_log import read_log

DIGEST = "digest"  # in a file of figures, of the others: a damaged figure looks like any other
Figures = dict[str, dict[str, float]]  # by task (`stsb@dev` for another split than the task's own), then by metric


@dataclass(frozen=True)
class Shown:
    """Single pairs that a picture shows: which, and how (`POINTS`)."""

    kind: str
    task: str
    split: str | None = None


@dataclass(frozen=True)
class Workshop:
    """A folder of jobs. Several processes, and several machines, may work in it at once."""

    folder: Path
    data: Path | None = None

    @property
    def texts(self) -> Texts:
        """The text of its jobs."""
        return Texts(self.folder / "texts", self.data)

    def is_trained(self, job: Job) -> bool:
        """Whether there is nothing left to train for it, nor to tidy up after."""
        run = self.run_of(job.training) if job.training else None
        return run is None or all((run / name).is_file() for name in ("encoder/modules.json", RECORD))

    def figures(self, job: Job) -> Figures:
        """What is known of it so far."""
        return _read(self._file(job))

    def run_of(self, job: Job) -> Path:
        """The run folder of a job that trains."""
        return self.folder / "runs" / (job.training or job).name

    def points(self, job: Job, shown: Shown) -> Points:
        """What the picture shows of it; nothing where that was not looked at yet."""
        return _read(self._points_file(job, shown))

    def is_done(self, job: Job, tasks: Iterable[str], shown: Shown | None = None) -> bool:
        """Whether it was measured on the tasks, and looked at as the picture wants it."""
        return set(tasks) <= set(self.figures(job)) and (shown is None or bool(self.points(job, shown)))

    def do(self, job: Job, tasks: Mapping[str, Task], shown: Shown | None = None) -> Figures | None:
        """Makes the encoder and measures it on the tasks that it was not measured on yet.

        None where another process is doing the same; it goes on at once with what is done already.
        """
        if self.is_done(job, tasks, shown):
            return self.figures(job)
        with leased(self._lease(job)) as mine:
            if not mine:
                return None
            encoder = self._encoder(job)
            if encoder is None:
                return None
            known = self.figures(job)
            found = known | _measured(encoder, {key: task for key, task in tasks.items() if key not in known})
            self._write(self._file(job), found)
            if shown and not self.is_done(job, tasks, shown):
                pairs = load_pairs(shown.task, data=self.data, split=shown.split)
                self._write(self._points_file(job, shown), POINTS[shown.kind](open_model(encoder), pairs))
            return found

    def tidy(self, job: Job) -> None:
        """Removes what one that was ended while it gave back its lease has left of a job that is done."""
        remove_abandoned(self._lease(job))

    def path(self, job: Job) -> list[dict[str, float]]:
        """What the log of its last stage has of every evaluation; nothing where nothing was trained."""
        training, recipe = job.training, job.resolved()
        file = stage_folders(self.run_of(job), recipe)[-1] / LOG if training and recipe else None
        lines = read_log(file) if file and file.is_file() else []
        return [line for line in lines if "eval_uniformity" in line]

    def _encoder(self, job: Job) -> Model | None:
        """The model, what the recipe makes of it, what the baseline makes of that; None if another trains it."""
        start: Model = job.model
        if training := job.training:
            with leased(self.folder / "leases" / f"{training.name}.training") as mine:
                if not mine:
                    return None
                start = self._trained(training)
        if job.baseline:
            start = self._fitted(job, start)
        if job.pooling and not job.baseline:
            return load_any(start).with_pooling(job.pooling)
        return start

    def _trained(self, job: Job) -> Path:
        """The encoder of its run: made, gone on with, or as it is there."""
        run = self.run_of(job)
        if not self.is_trained(job):
            if run.exists() and not (run / RUN).is_file():  # killed before it had begun
                shutil.rmtree(run)
            began = time.monotonic()
            train(
                self.texts.files(job.text, job.texts),
                job.recipe,
                job.model,
                run,
                seed=job.seed,
                set=job.set,
                teacher=job.teacher,
                dev=job.dev,
                data=self.data,
                unit="document",
                resume=run.exists(),
            )
            self._note_time(job, time.monotonic() - began)
        return run / "encoder"

    def _fitted(self, job: Job, start: Model) -> Made:
        assert job.baseline is not None
        known, text = baseline_fields(job.baseline), job.fitted_on or job.text
        chosen: dict[str, Any] = dict(job.options)
        chosen |= {"model": start} if "model" in known else {}
        chosen |= {"seed": job.seed} if "seed" in known and job.seed is not None else {}
        return fit_baseline(job.baseline, self.texts.files(text, job.texts) if text else None, **chosen)

    def _note_time(self, job: Job, seconds: float) -> None:
        """Beside the run, for whoever wants to know how long such a one takes."""
        file = self.run_of(job) / "seconds.json"
        with whole_or_nothing(file) as path:
            path.write_text(json.dumps({"seconds": round(seconds, 1)}) + "\n", encoding="utf-8")

    def _write(self, file: Path, found: Figures | Points) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        with whole_or_nothing(file) as path:
            path.write_text(json.dumps({**found, DIGEST: _digest(found)}, indent=2) + "\n", encoding="utf-8")

    def _lease(self, job: Job) -> Path:
        return self.folder / "leases" / job.name

    def _file(self, job: Job) -> Path:
        return self.folder / "figures" / f"{job.name}.json"

    def _points_file(self, job: Job, shown: Shown) -> Path:
        split = f"@{shown.split}" if shown.split else ""
        return self.folder / "points" / f"{shown.kind}-{shown.task}{split}" / f"{job.name}.json"


def _read(file: Path) -> dict[str, Any]:
    """What was measured; nothing if it was not, or if the file is damaged, so that it is measured again."""
    if not file.is_file():
        return {}
    try:
        found = read_json(file)
    except IsotropeError:
        return {}
    return found if found.pop(DIGEST, None) == _digest(found) else {}


def _digest(found: Mapping[str, Any]) -> str:
    return digest(json.dumps(found, sort_keys=True)).hex()


def _measured(encoder: Model, tasks: Mapping[str, Task]) -> Figures:
    """The figures of each task. Several splits of one task have the same name, so that each split is one call."""
    found: Figures = {}
    for split in dict.fromkeys(task.split for task in tasks.values()):
        some = {key: task for key, task in tasks.items() if task.split == split}
        outcomes = evaluate([encoder], list(some.values()), cache=False).rows[0].members[0].outcomes
        for key, task in some.items():
            found[key] = {metric: figure.value for metric, figure in outcomes[task.name].figures.items()}
    return found
