"""One call of `train`: its folder, its stages one after the other, and what is kept of them."""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from transformers import set_seed

from isotrope import recipes
from isotrope.encoders import Encoder, load
from isotrope.encoders.loading import model_commit
from isotrope.encoders.precision import encoding_in
from isotrope.io.atomic import whole_or_nothing
from isotrope.io.checksums import changed_since
from isotrope.io.errors import IsotropeError
from isotrope.io.memory import enough_memory
from isotrope.recipes.schema import Recipe, Training
from isotrope.text.shaping import Shape, shaped
from isotrope.text.sources import Source, as_sources, shown
from isotrope.text.units import Unit
from isotrope.training.assemble import (
    finished,
    handed_on,
    make_batches,
    make_learner,
    probe,
)
from isotrope.training.automatic import TRIED, Outcome, Purpose, decide, is_raw
from isotrope.training.bar import RunBar
from isotrope.training.checkpoints import UnwrittenError, writing
from isotrope.training.frozen import FrozenEncoders
from isotrope.training.loop import MEMORY_ADVICE
from isotrope.training.monitor import Monitor, Score
from isotrope.training.processes import is_main_process, made_by_main_process, main_process_first
from isotrope.training.record import write_verdict
from isotrope.training.result import judged
from isotrope.training.run_folder import (
    LOG,
    RUN,
    check_run,
    differences,
    locked,
    read_json,
    stage_folders,
    tidy,
    worth_resuming,
)
from isotrope.training.stage_loop import stage_loop
from isotrope.training.stage_text import MONITORED_ROWS, StageText, read_stage_text, tell

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

RECIPE = "recipe.toml"


@dataclass
class Session:
    """One call of `train`: what it was asked, and its folder."""

    folder: Path
    recipe: Recipe
    model: str | Path | Encoder | SentenceTransformer
    dev: str | list[str | None] | None
    unit: Unit = "auto"
    automatic: bool = False  # no recipe was named: what it makes must be better, or is not kept
    purpose: Purpose = "both"
    other_processes: bool = False  # resumed with another number of them, and that is meant
    sources: list[Source] = field(default_factory=list)  # what was given to read, once the recipe was tried

    @property
    def name(self) -> str:
        """What the model is called; one in memory by what it was loaded from."""
        if isinstance(self.model, str | Path):
            return str(self.model)
        return str(getattr(self.model, "name", "")) or type(self.model).__name__

    def begin(self) -> Encoder:
        """The encoder to start from. One in memory is copied: the caller's stays as it is."""
        return load(self.model if isinstance(self.model, str | Path) else copy.deepcopy(self.model))

    @contextmanager
    def open(self, resume: bool) -> Iterator[None]:
        """Makes the folder, or checks that the settings of the one there are the same; locks it meanwhile.

        That of a new run that fails before its first step is removed.
        """
        if resume or is_main_process():  # which makes the folder, and the others may come later
            check_run(self.folder, resume=resume)
        commit = model_commit(self.model) if isinstance(self.model, str | Path) else None
        with locked(self.folder) if is_main_process() else nullcontext():
            self._write_settings(commit, resume)
            try:
                with enough_memory(MEMORY_ADVICE):
                    yield
            except Exception as error:
                if not resume:
                    self._forget(error)
                raise

    def run(
        self,
        sentences: Any,
        shape: Shape,
        column: str | None,
        scores: Sequence[Score | None],
        *,
        resume: bool,
    ) -> tuple[Encoder, dict[str, float] | None]:
        """Tries the recipe, reads the text, runs all stages, and saves what they made; its scores, if there are any."""
        encoder = self.begin()
        probe(self.recipe, encoder)
        self.sources = as_sources(sentences)
        texts = self.texts(shaped(self.sources, shape), column, encoder, scores, resume=resume)
        tell(texts)
        for k, text in enumerate(texts):
            encoder = self.stage(k, encoder, text, scores[k], resume=resume)
        found = self.scored(scores[-1], encoder)
        if self.automatic:
            encoder = self._kept(encoder, found)
        self.save(encoder, self.folder / "encoder")
        self._tidy()
        return encoder, found

    def _tidy(self) -> None:
        for stage, folder in zip(self.recipe.stages, stage_folders(self.folder, self.recipe), strict=True):
            if is_main_process() and not stage.training.keep_checkpoints:
                tidy(folder)

    def _kept(self, tuned: Encoder, scores: dict[str, float] | None) -> Encoder:
        """The tuned encoder if it is better, or else the model as it was; what was tried lies beside it then."""
        start = self.begin()
        outcome = made_by_main_process(lambda: Outcome.read(self.folder) or self._outcome(start, tuned, scores))
        if is_main_process():
            outcome.write(self.folder)
        if outcome.kept == "tuned":
            return tuned
        self.save(tuned, self.folder / TRIED)
        return start

    def _outcome(self, start: Encoder, tuned: Encoder, scores: dict[str, float] | None) -> Outcome:
        found = judged(self.folder, self.recipe, start, tuned)
        write_verdict(self.folder, found)
        return decide(scores, found, self.purpose, raw=is_raw(start))

    def texts(
        self,
        sources: Sequence[Source],
        column: str | None,
        reader: Encoder,
        scores: Sequence[Score | None],
        *,
        resume: bool,
    ) -> list[StageText]:
        """The text of every stage; the first process reads it."""
        stages = zip(self.recipe.stages, stage_folders(self.folder, self.recipe), scores, strict=True)
        return made_by_main_process(
            lambda: [
                read_stage_text(
                    stage, folder, sources, column, reader, unit=self.unit, scored=score is not None, resume=resume
                )
                for stage, folder, score in stages
            ]
        )

    def stage(self, number: int, encoder: Encoder, text: StageText, score: Score | None, *, resume: bool) -> Encoder:
        """Runs one stage, or loads what it made if it is done already."""
        stage, folder = self.recipe.stages[number], stage_folders(self.folder, self.recipe)[number]
        done = folder / "encoder"
        if resume and (done / "modules.json").is_file():
            return self._made(done, encoder)
        started = {"previous": lambda: encoder, "model": self.begin}.get(stage.start, lambda: load(stage.start))()
        set_seed(stage.training.seed)
        if stage.learns:
            result = self._learnt(number, started, encoder, text, score, resume=resume)
        else:
            result = started.with_pooling(stage.pooling.evaluation)
        if stage.fit is not None:
            with encoding_in(stage.training.precision, result):
                result = stage.fit.fit(result, text.drawn(stage.fit.texts, stage.training.seed))
        if len(self.recipe.stages) == 1:
            return result
        with main_process_first():
            self.save(result, done)
        return self._made(done, started)

    def _learnt(
        self, number: int, started: Encoder, encoder: Encoder, text: StageText, score: Score | None, *, resume: bool
    ) -> Encoder:
        """What the loop makes of the encoder that the stage starts from."""
        stage, folder = self.recipe.stages[number], stage_folders(self.folder, self.recipe)[number]
        assert text.plan is not None
        frozen = FrozenEncoders(started)
        learner = make_learner(stage, started, encoder, frozen)
        student = learner.student
        batches = make_batches(text.corpus, text.plan, stage, student, learner.guide, folder, frozen, text.held_out)
        del frozen  # with the encoders that it loaded: their vectors are on disk now
        monitored = text.held_out[:MONITORED_ROWS] or list(range(min(MONITORED_ROWS, len(text.corpus))))
        monitor = Monitor(
            batch=batches.item(monitored, torch.Generator().manual_seed(0)),
            held_out=bool(text.held_out),
            evaluated=lambda: finished(learner.tuned(), started, stage),
            score=score,
        )
        bar = RunBar(self.recipe.name if len(self.recipe.stages) == 1 else f"{self.recipe.name} {number + 1}")
        stage_loop(learner, batches, monitor, folder, bar).run(resume=resume, other_processes=self.other_processes)
        return handed_on(learner.tuned(), started, stage).eval()

    def save(self, encoder: Encoder, folder: Path) -> None:
        """Saves what a stage or the run made; what was there already is left as it is, and must be what was saved."""
        if not is_main_process():
            return
        if not folder.exists():
            with writing(folder):
                encoder.save(folder, card=self._untuned_card(folder) or self._card())
        elif changed := changed_since(folder):
            raise IsotropeError(f"{folder}: {changed}; move the folder away, then resume the run to save it again")

    def scored(self, score: Score | None, encoder: Encoder) -> dict[str, float] | None:
        """On the development set; the model as it was is pooled as the tuned one is."""
        if score is None or not is_main_process():
            return None
        untuned = self.begin().with_pooling(self.recipe.stages[-1].pooling.evaluation)
        scored = {"before": score(untuned), "after": score(encoder)}
        return {when: round(found["spearman"], 2) for when, found in scored.items()}

    def _forget(self, error: Exception) -> None:
        """Removes the folder of a run that failed before it began, so that the corrected command finds it free; and of
        one whose first file could not be written.
        """
        if is_main_process() and not worth_resuming(self.folder):
            only_step_0 = all(log.read_text().count("\n") == 1 for log in self.folder.rglob(LOG))
            if only_step_0 or isinstance(error, UnwrittenError):
                shutil.rmtree(self.folder)

    def _made(self, folder: Path, started: Encoder) -> Encoder:
        """What a stage made, from disk: the next one begins with the same, whether the run was interrupted or not."""
        encoder = load(folder, device=str(started.device))
        encoder.name = started.name
        return encoder

    def _write_settings(self, commit: str | None, resume: bool) -> None:
        stages = [stage.model_dump(mode="json") for stage in self.recipe.stages]
        asked = {"model": self.name, "dev": self.dev, "unit": self.unit}
        if commit is not None:
            asked["commit"] = commit  # of the Hub: `main` may mean another one when the run is resumed
        settings: dict[str, Any] = {"recipe": self.recipe.full_name, **asked}
        settings |= stages[0] if len(stages) == 1 else {"stages": stages}
        file = self.folder / RUN
        if resume and (differing := differences(_with_defaults(read_json(file)), settings)):
            raise IsotropeError(f"{self.folder}: settings differ from the original run: {shown(differing, '; ')}")
        if is_main_process():  # run.json first: without it there is nothing to resume, and anything else in the way
            texts = {file: json.dumps(settings, indent=2) + "\n", self.folder / RECIPE: recipes.to_toml(self.recipe)}
            for target, text in texts.items():
                if not target.is_file():
                    with whole_or_nothing(target) as path:
                        path.write_text(text, encoding="utf-8")

    def _untuned_card(self, folder: Path) -> str:
        """For an encoder that is kept as it was; nothing for any other."""
        outcome = Outcome.read(self.folder) if folder == self.folder / "encoder" else None
        if outcome is None or outcome.kept == "tuned":
            return ""
        tried = f"isotrope tried the recipe `{self.recipe.full_name}` on it, and did not keep the result"
        return f"The untuned `{self.name}`: {tried}.\n\n{outcome.because}"

    def _card(self) -> str:
        """How the encoder was made, for its model card."""
        source = ", ".join(part for part in (self.recipe.paper, self.recipe.section, self.recipe.table) if part)
        return (
            f"Tuned by isotrope from `{self.name}` with the recipe `{self.recipe.name}` ({self.recipe.variant}"
            f"{'; ' + source if source else ''}).\n\n```toml\n{recipes.to_toml(self.recipe)}```"
        )


def _with_defaults(settings: dict[str, Any]) -> dict[str, Any]:
    """Settings of a run that an older version began: what it did not have yet is as it was then."""
    defaults = Training().model_dump(mode="json")
    for stage in settings.get("stages", [settings]):
        if isinstance(stage.get("training"), dict):
            stage["training"] = {**defaults, **stage["training"]}
    return {"unit": "auto", **settings}
