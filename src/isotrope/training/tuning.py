"""`tune`: several recipes within a budget, by successive halving, and one encoder in the end.

output/
  run.json       the settings
  tuning.json    what was planned, tried and found so far, and the seconds spent
  corpus/        the text as it was given
  text.parquet   what the trials learn from; the rest of the corpus is what they are judged on
  trials/NAME-RUNG/   ordinary run folders
  outcome.json   which encoder was kept, and why; result.json: how long it took, and on which versions
  encoder/       the result, a sentence-transformers folder
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from isotrope.encoders import Encoder, load
from isotrope.encoders.devices import on_device
from isotrope.evaluation import compare
from isotrope.io.atomic import whole_folder
from isotrope.io.durations import rough_duration, seconds_of, shown_duration
from isotrope.io.errors import IsotropeError, one_line
from isotrope.io.progress import Display
from isotrope.text.shaping import Shape, shaped
from isotrope.text.sources import as_sources
from isotrope.text.units import Unit, check_unit
from isotrope.training.automatic import Outcome, Purpose, is_raw
from isotrope.training.candidates import Candidate, Given, check_candidates, default_candidates
from isotrope.training.development import development_score
from isotrope.training.halving import Contender, Planned, better_half, plan_rung
from isotrope.training.interruption import Interrupted
from isotrope.training.leaderboard import NO_TIME, Trial, Tuning, ranked
from isotrope.training.monitor import Score
from isotrope.training.processes import rank_and_world
from isotrope.training.record import Record
from isotrope.training.run import train
from isotrope.training.run_folder import RUN, check_run
from isotrope.training.stage_text import told_already
from isotrope.training.tuning_progress import Progress, opened
from isotrope.training.tuning_text import TuningText, read_tuning_text

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

    from isotrope.training.result import Run

TIMED = 128  # texts that are encoded to find out how fast the encoder is
BUDGET = "20m"


def tune(
    sentences: Any,
    model: str | Path | Encoder | SentenceTransformer = "small",
    output: str | Path = "runs/tuned",
    *,
    budget: str | float = BUDGET,
    purpose: Purpose = "both",
    dev: str | Path | None = None,
    data: str | Path | None = None,
    candidates: Sequence[Given] | None = None,
    column: str | None = None,
    columns: str | Sequence[str] | None = None,
    join: str | None = None,
    strip_html: bool = False,
    device: str | None = None,
    unit: Unit = "auto",
    seed: int | None = None,
    resume: bool = False,
) -> Tuning:
    """Tries several recipes within a budget and keeps the best, or the encoder as it was if none is clearly better.

    All trials are judged on the same held-out part of the text, which none of them learns from, or by a development
    set. Every candidate first takes a small share of its steps; the better half goes on with more.

    Args:
        sentences: strings, a file, a data frame or `datasets.Dataset`, or a list of those.
        model: what to start from: a name, a folder, an `Encoder` or a `SentenceTransformer`, which stays as it is.
        output: the folder; the encoder lies in `output/encoder`, each trial in `output/trials`.
        budget: how long all of it may take, `"20m"`, `"1h30m"` or seconds; a trial that has begun is not cut off.
        purpose: what the encoder is to find: `topics` (texts of one kind), `duplicates` (of one meaning), or `both`.
        dev: `stsb`, `bundled` or a file of scored pairs, by which trials are ranked in place of the judge.
        data: folder of the data sets that `dev` names.
        candidates: recipes by name, `name:variant` or TOML file, as tables, or `Recipe`s; each must read plain text.
            By default those that suit the model.
        column: what a table calls its text.
        columns: several columns of a table, each a text of its own unless they are joined; as for `train`.
        join: what stands between the columns of a row: `". "`.
        strip_html: takes HTML out of the text.
        device: `cpu`, `cuda`, `mps` ...; by default the fastest there is.
        unit: what is trained on: `sentence`, `document` or `auto`; as for `train`.
        seed: in place of the recipes'.
        resume: go on with the tuning in `output`; the time that was spent before counts.

    Example:
        >>> import isotrope, tempfile
        >>> from isotrope.text import bundled_sentences
        >>> text, recipes = bundled_sentences()[:300], ["smooth", "smooth:topics"]
        >>> found = isotrope.tune(text, output=tempfile.mkdtemp(), budget="5m", candidates=recipes)
        >>> sorted(trial.recipe for trial in found.trials), found.encode("A dog runs.").shape
        (['smooth', 'smooth:topics'], (384,))
    """
    seconds, folder = seconds_of(budget), Path(output)
    check_unit(unit)
    if purpose not in get_args(Purpose):
        raise IsotropeError(f"unknown purpose '{purpose}'; one of {', '.join(get_args(Purpose))}")
    if rank_and_world()[1] > 1:
        raise IsotropeError("tune runs in one process; only train runs in several")
    named = check_candidates(candidates) if candidates is not None else None
    check_run(folder, resume=resume)
    settings: dict[str, Any] = {"model": _name_of(model), "budget": seconds, "purpose": purpose}
    settings |= {"dev": None if dev is None else str(dev), "unit": unit, "seed": seed}
    settings |= {"candidates": [one.name for one in named] if named else None}
    given, shape = as_sources(sentences), Shape.of(columns, join, strip_html, column=column)
    sources = shaped(given, shape)
    with on_device(device), opened(folder, settings, resume=resume) as progress:
        score = None if dev is None else development_score(str(dev), data)
        start = load(model)
        text = read_tuning_text(sources, column, folder, start, unit, judged=not dev, resume=resume)
        raw = is_raw(start)
        chosen = named or default_candidates(raw=raw, graded=dev is not None)
        options = {"model": model, "dev": dev, "data": data, "unit": unit, "seed": seed}
        search = _Search(folder, progress, chosen, start, text, score, purpose, seconds, options, raw)
        with told_already():
            found = search.run(_name_of(model))
        Record.of(found.seconds, None, given, shape, column).write(folder)
        return found


@dataclass
class _Search:
    """The trials of one call of `tune`."""

    folder: Path
    progress: Progress
    candidates: list[Candidate]
    start: Encoder
    text: TuningText
    score: Score | None
    purpose: Purpose
    budget: float
    options: dict[str, Any]  # of `train`, the same for all trials
    raw: bool

    def __post_init__(self) -> None:
        self.display = Display("tune")

    def run(self, model: str) -> Tuning:
        """Rung after rung, then the best of all trials, or the untuned encoder."""
        self._measure_start()
        contenders, rung = self._contenders(), 0
        while contenders and (planned := self._plan(rung, contenders)):
            for number, one in enumerate(planned, 1):
                self._try(one, rung, f"rung {rung + 1}, trial {number} of {len(planned)}")
            contenders, rung = self._going_on(rung, contenders), rung + 1
        self._note_untried()
        best = ranked(self.progress.trials)
        if best[0].problem:
            raise IsotropeError(f"no candidate could be tried; {best[0].recipe}: {best[0].problem}")
        outcome, encoder = self._keep(best, model)
        beside, spent = self.progress.beside or "", self.progress.spent
        return Tuning(self.folder, encoder, model, best, outcome, beside, self.budget, spent)

    def _measure_start(self) -> None:
        """How fast the untuned encoder is, and how good on the development set."""
        if self.progress.per_text is None:
            some = (self.text.judged or self.text.learnt_sample)[:TIMED]
            began = time.monotonic()
            self.start.encode(some)
            per_text = (time.monotonic() - began) / len(some)
            before = round(self.score(self.start)["spearman"], 2) if self.score else None
            self.progress.note(per_text=per_text, before=before)

    def _contenders(self) -> list[Contender]:
        assert self.progress.per_text is not None
        per_text = self.progress.per_text
        judging = 4 * len(self.text.judged) * per_text  # the texts and at most as many halves, by two encoders
        return [one.contender(self.text.learnt, per_text, judging) for one in self.candidates]

    def _plan(self, rung: int, contenders: list[Contender]) -> tuple[Planned, ...]:
        """As it was planned before a kill, or by the time that is left now."""
        if rung < len(self.progress.rungs):
            return self.progress.rungs[rung]
        planned = tuple(plan_rung(contenders, self.budget - self.progress.spent))
        if rung == 0 and not planned:
            quickest = min(contenders, key=lambda one: one.least)
            raise IsotropeError(
                f"a budget of {shown_duration(self.budget)} is too small: the quickest candidate, {quickest.name}, "
                f"needs about {rough_duration(self.progress.spent + quickest.least)}; give more in budget=",
                argument="budget=",
            )
        self.progress.note(rungs=(*self.progress.rungs, planned))
        return planned

    def _try(self, planned: Planned, rung: int, where: str) -> None:
        """One trial, unless it is done already, or the trials before it took longer than they should have."""
        done = self.progress.trials
        if any((one.recipe, one.rung) == (planned.name, rung) for one in done):
            return
        candidate = next(one for one in self.candidates if one.name == planned.name)
        name = f"{candidate.folder}-{rung + 1}"
        began = {**(self.progress.began or {})}
        if name not in began:
            if done and self.progress.spent + planned.seconds > self.budget:
                self.progress.note(trials=(*done, Trial(planned.name, rung, f"trials/{name}", problem=NO_TIME)))
                return
            self.progress.note(began=began | {name: self.progress.spent})
        trial = self._judged(candidate, planned, rung, f"trials/{name}")
        self.progress.note()
        seconds = self.progress.spent - (self.progress.began or {})[name]
        self.progress.note(trials=(*done, replace(trial, seconds=round(seconds, 2))))
        self.display.say(f"{where}: {trial.recipe}{f', {trial.steps} steps' if trial.steps else ''}: {trial.judgement}")

    def _judged(self, candidate: Candidate, planned: Planned, rung: int, name: str) -> Trial:
        """Trains, or goes on with what was begun, and asks the judge; what fails is no reason to stop the others."""
        there = self.folder / name
        if there.exists() and not (there / RUN).is_file():  # killed before it had begun
            shutil.rmtree(there)
        chosen = candidate.settings(planned.steps, self.text.learnt) if planned.steps else {}
        try:
            run = self._trained(candidate, there, chosen)
        except Interrupted:
            raise
        except IsotropeError as error:
            return Trial(planned.name, rung, name, problem=f"failed: {one_line(str(error), 200)}")
        scores = None
        if self.score and self.progress.before is not None:
            scores = {"before": self.progress.before, "after": round(self.score(run.encoder)["spearman"], 2)}
        judged = self.text.judged
        found = compare(self.start, run.encoder, judged) if judged else None
        return Trial.judged(
            planned, rung, name, run.steps, scores, found, self.purpose, raw=self.raw, enough=self.text.enough
        )

    def _trained(self, candidate: Candidate, there: Path, chosen: dict[str, Any]) -> Run:
        """A trial that can't be resumed, for what is damaged in it, would be lost to the choice: it begins anew."""
        if there.exists():
            try:
                return train(self.text.file, candidate.recipe, output=there, set=chosen, resume=True, **self.options)
            except Interrupted:
                raise
            except IsotropeError as error:
                self.display.say(f"{candidate.name} starts again: {one_line(str(error), 200)}")
                shutil.rmtree(there)
        return train(self.text.file, candidate.recipe, output=there, set=chosen, **self.options)

    def _going_on(self, rung: int, contenders: list[Contender]) -> list[Contender]:
        """The better half of those that have steps, with what they really cost."""
        tried = {one.recipe: one for one in ranked(self.progress.trials) if one.rung == rung and not one.problem}
        learners = {one.name: one for one in contenders if one.steps}
        names = better_half(list(tried), self.progress.rungs[rung])
        return [learners[name].after(tried[name].seconds, tried[name].steps) for name in names]

    def _note_untried(self) -> None:
        """Candidates for which there was no time at all."""
        done = self.progress.trials
        missing = [one for one in self.candidates if one.name not in {trial.recipe for trial in done}]
        if missing:
            untried = (Trial(one.name, 0, f"trials/{one.folder}-1", problem=NO_TIME) for one in missing)
            self.progress.note(trials=(*done, *untried))

    def _keep(self, best: list[Trial], model: str) -> tuple[Outcome, Encoder]:
        """Saves the encoder of the best trial, or the untuned one, and says why."""
        first, there = best[0], self.folder / "encoder"
        assert first.outcome is not None
        if first.kept == "tuned" and self.progress.beside is None:
            self.progress.note(beside=self._beside(first, best))
        first.outcome.write(self.folder)
        if not there.is_dir():
            if first.kept == "tuned":
                with whole_folder(there) as made:
                    shutil.copytree(self.folder / first.folder / "encoder", made, dirs_exist_ok=True)
            else:
                self.start.save(there, card=f"The untuned `{model}`: `isotrope.tune` found nothing better.")
        return first.outcome, load(there, device=str(self.start.device))

    def _beside(self, first: Trial, best: list[Trial]) -> str:
        """How the best compares with the next recipe, in words."""
        others = [one for one in best if one.recipe != first.recipe and one.kept == "tuned"]
        if not others:
            return "" if len(best) == 1 else "No other recipe is clearly better than the untuned encoder."
        other = others[0]
        if first.dev and other.dev:
            return f"Next best: {other.recipe}, with {other.dev['after']:.2f}."
        if not self.text.judged:
            return ""
        before, after = (self.folder / one.folder / "encoder" for one in (other, first))
        judgement = compare(before, after, self.text.judged).judgement
        return {
            "better": f"It is also better than {other.recipe}, the next best.",
            "worse": f"{other.recipe} keeps more texts together, but comes second on all figures taken together.",
        }.get(judgement, f"There is no clear difference between it and {other.recipe}, the next best.")


def _name_of(model: Any) -> str:
    return str(model) if isinstance(model, str | Path) else str(getattr(model, "name", "")) or type(model).__name__
