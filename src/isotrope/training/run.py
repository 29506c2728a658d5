"""From text and a recipe to a tuned encoder, in a run folder that can be resumed.

output/
  run.json       what the run was begun with
  recipe.toml    the resolved recipe
  stage-1/ ...   where a recipe has several stages; a single stage lies in the run folder itself
    corpus/      the text as Arrow, and which rows make which batch
    checkpoint-N/
    log.jsonl
  encoder/       the result, a sentence-transformers folder
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import torch
from transformers import set_seed

from isotrope import recipes
from isotrope.encoders import Encoder, load
from isotrope.encoders.progress import quiet_transformers
from isotrope.io.atomic import whole_or_nothing
from isotrope.io.errors import IsotropeError
from isotrope.recipes.schema import Recipe
from isotrope.text.corpus import Corpus, build_corpus
from isotrope.text.plan import Plan, held_out_rows, plan_batches
from isotrope.text.sources import Source, shown
from isotrope.training.assemble import finished, make_batches, make_learner, probe, with_teacher
from isotrope.training.bar import RunBar
from isotrope.training.checkpoints import RUN, check_run, last_checkpoint, writing
from isotrope.training.development import development_scores, development_sets
from isotrope.training.engine import LOG, Engine
from isotrope.training.further_pairs import with_further_pairs
from isotrope.training.processes import is_main_process, made_by_main_process, main_process_first
from isotrope.training.text_views import with_text_views
from isotrope.training.watch import Score, Watch

StageText: TypeAlias = tuple[Corpus, Plan, list[int]]  # the last: rows that are held out
WATCHED_ROWS = 256  # of which the label-free figures are taken


def train(
    sentences: Source | Sequence[Source],
    recipe: str | Path = "consert:quick",
    model: str | Path = "bundled",
    output: str | Path = "runs/isotrope",
    *,
    steps: int | None = None,
    seed: int | None = None,
    dev: str | Path | Sequence[str | Path] | None = None,
    data: str | Path | None = None,
    set: Mapping[str, Any] | None = None,  # noqa: A002
    teacher: str | Path | None = None,
    column: str | None = None,
    resume: bool = False,
) -> Encoder:
    """Tunes `model` on the sentences by a recipe, and returns the encoder that lies in `output/encoder`.

    `sentences`: strings, rows (dictionaries), a file, or several of those. `dev`: `stsb`, `bundled` or a file of scored
    pairs, by which the best checkpoint is chosen, or a list with one of those for each stage; without it the last is
    kept. `set`: fields of the recipe by their dotted path, such as {"training.batch_size": 64}. `teacher`: the guide's
    model, for recipes that need one.
    """
    chosen = dict(set or {})
    if steps is not None:
        chosen["training.steps"] = steps
    if seed is not None:
        chosen["training.seed"] = seed
    if teacher is not None:
        chosen |= with_teacher(recipes.load(str(recipe), chosen), str(teacher))
    resolved = recipes.load(str(recipe), chosen)
    sets = development_sets(dev, len(resolved.stages))
    run = Run(Path(output), resolved, str(model), dev=sets[0] if len(dict.fromkeys(sets)) == 1 else sets)
    run.open(resume)
    try:
        scores = development_scores(sets, data, resolved)
        encoder = load(model)
        probe(resolved, encoder)  # before any text is read
        sources = as_sources(sentences)
        numbers = range(len(resolved.stages))
        texts = [run.text(k, sources, column, scored=scores[k] is not None, resume=resume) for k in numbers]
        for k in numbers:
            encoder = run.stage(k, encoder, texts[k], scores[k], resume=resume)
    except IsotropeError:
        if not resume:
            run.forget()
        raise
    return run.finish(encoder)


def as_sources(sentences: Any) -> list[Source]:
    """A file, several (as `Path`), or text in memory -> a list of sources."""
    if isinstance(sentences, (str, Path)):
        return [sentences]
    items = list(sentences)
    return items if items and all(isinstance(item, Path) for item in items) else [items]


@dataclass
class Run:
    """A run folder."""

    folder: Path
    recipe: Recipe
    model: str
    dev: str | list[str | None] | None

    def open(self, resume: bool) -> None:
        """Makes it, or checks that the one there was begun alike."""
        if resume or is_main_process():  # which makes the folder, and the others may come later
            check_run(self.folder, resume=resume)
        stages = [stage.model_dump(mode="json") for stage in self.recipe.stages]
        identity: dict[str, Any] = {
            "recipe": f"{self.recipe.name}:{self.recipe.variant}",
            "model": self.model,
            "dev": self.dev,
        }
        identity |= stages[0] if len(stages) == 1 else {"stages": stages}
        file = self.folder / RUN
        if resume:
            if differing := differences(json.loads(file.read_text()), identity):
                raise IsotropeError(f"{self.folder}: begun otherwise, so not resumed: {shown(differing, '; ')}")
            return
        if is_main_process():
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise IsotropeError(f"{self.folder}: can't be made ({error.strerror or error})") from error
            (self.folder / "recipe.toml").write_text(recipes.to_toml(self.recipe), encoding="utf-8")
            with whole_or_nothing(file) as path:
                path.write_text(json.dumps(identity, indent=2) + "\n", encoding="utf-8")

    def stage(self, number: int, encoder: Encoder, text: StageText, score: Score | None, *, resume: bool) -> Encoder:
        """Runs one stage, or loads what it made if it is done already."""
        stage, folder = self.recipe.stages[number], self.stage_folder(number)
        done = folder / "encoder"
        if resume and (done / "modules.json").is_file():
            return self._made(done, encoder)
        started = encoder if stage.start == "previous" else load(self.model if stage.start == "model" else stage.start)
        set_seed(stage.training.seed)
        learner = make_learner(stage, started, encoder)
        student = learner.student
        corpus, plan, held_out = text
        batches = make_batches(corpus, plan, stage, student, learner.guide, folder)
        watched = held_out or list(range(min(WATCHED_ROWS, len(corpus))))
        watch = Watch(
            batch=batches.item(watched, torch.Generator().manual_seed(0)),
            held_out=bool(held_out),
            evaluated=lambda: finished(student, started, stage),
            score=score,
        )
        bar = RunBar(self.recipe.name if len(self.recipe.stages) == 1 else f"{self.recipe.name} {number + 1}")
        try:
            checkpoint = last_checkpoint(folder) if resume else None
            engine = Engine(learner, batches, watch, folder, bar)
            with quiet_transformers():
                engine.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
        finally:
            bar.stop()
        result = finished(student, started, stage).eval()
        if len(self.recipe.stages) == 1:
            return result
        with main_process_first():
            self._save(result, done)
        return self._made(done, started)

    def finish(self, encoder: Encoder) -> Encoder:
        """Saves the result."""
        self._save(encoder, self.folder / "encoder")
        return encoder

    def _save(self, encoder: Encoder, folder: Path) -> None:
        if is_main_process() and not folder.exists():  # a run that was done already is left as it is
            with writing(folder):
                encoder.save(folder, card=self.card())

    def _made(self, folder: Path, started: Encoder) -> Encoder:
        """What a stage made, from disk: the next one begins with the same, whether the run was interrupted or not."""
        encoder = load(folder, device=str(started.device))
        encoder.name = started.name
        return encoder

    def card(self) -> str:
        """How the encoder was made, for its model card."""
        source = ", ".join(part for part in (self.recipe.paper, self.recipe.section, self.recipe.table) if part)
        return (
            f"Tuned by isotrope from `{self.model}` with the recipe `{self.recipe.name}` ({self.recipe.variant}"
            f"{'; ' + source if source else ''}).\n\n```toml\n{recipes.to_toml(self.recipe)}```"
        )

    def text(
        self, number: int, sources: Sequence[Source], column: str | None, *, scored: bool, resume: bool
    ) -> StageText:
        """A stage's corpus, its plan, and the rows that are held out: some where there is no development set."""
        stage, folder = self.recipe.stages[number], self.stage_folder(number)
        there, training = folder / "corpus", stage.training

        def make() -> StageText:
            given, called = with_text_views(sources, stage, column, folder)
            given = with_further_pairs(given, stage, called)
            self._build_corpus(given, stage.columns, there, called, resume=resume)
            corpus = Corpus(there)
            held_out = [] if scored else held_out_rows(corpus, WATCHED_ROWS)
            plan = plan_batches(
                corpus,
                batch_size=training.batch_size,
                epochs=training.epochs,
                steps=training.steps * training.gradient_accumulation if training.steps else None,
                seed=training.seed,
                drop_last=training.drop_last,
                held_out=held_out,
                folder=there,
            )
            return corpus, plan, held_out

        return made_by_main_process(make)

    def stage_folder(self, number: int) -> Path:
        """Where a stage lies."""
        return self.folder if len(self.recipe.stages) == 1 else self.folder / f"stage-{number + 1}"

    def forget(self) -> None:
        """Removes the folder of a run that failed before it began, so that the corrected command finds it free."""
        if is_main_process():
            only_step_0 = all(log.read_text().count("\n") == 1 for log in self.folder.rglob(LOG))
            took_long = [*self.folder.rglob("checkpoint-*"), *self.folder.rglob("teacher")]
            if only_step_0 and not took_long:
                shutil.rmtree(self.folder)

    def _build_corpus(
        self, sources: Sequence[Source], columns: tuple[str, ...], there: Path, column: str | None, *, resume: bool
    ) -> None:
        """Builds it beside its place; a resumed run must find what it was begun with."""
        scratch = there.with_name("corpus.new")
        try:
            build_corpus(sources, columns, scratch, column=column)
            if resume and there.is_dir():
                before, now = (json.loads((one / "corpus.json").read_text()) for one in (there, scratch))
                if before["fingerprint"] != now["fingerprint"]:
                    changed = shown(differences(before["counts"], now["counts"]) or ["other text"], "; ")
                    raise IsotropeError(
                        f"{self.folder}: begun with another corpus, so not resumed: "
                        f"{shown(before['sources'])} -> {shown(now['sources'])}; {changed}"
                    )
            else:
                scratch.rename(there)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)


def differences(before: Any, now: Any, path: str = "") -> list[str]:
    """`training.seed 1 -> 2` for each place in which two nested settings differ."""
    if isinstance(before, dict) and isinstance(now, dict):
        keys = dict.fromkeys([*before, *now])
        return [line for key in keys for line in differences(before.get(key), now.get(key), f"{path}.{key}".strip("."))]
    if isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        pairs = enumerate(zip(before, now, strict=True))
        return [line for i, (old, new) in pairs for line in differences(old, new, f"{path}.{i}")]
    return [] if before == now else [f"{path} {before!r} -> {now!r}"]
