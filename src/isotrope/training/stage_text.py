"""The text of a stage: its corpus, the plan of its batches, and the rows that are held out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import NamedTuple

import numpy as np

from isotrope.encoders import Encoder
from isotrope.evaluation.label_free.neighbourhoods import FEWEST
from isotrope.io.atomic import whole_folder
from isotrope.io.errors import IsotropeError
from isotrope.io.progress import Display
from isotrope.recipes.schema import Recipe, Stage, Training
from isotrope.text.corpus import ABOUT, Corpus, build_corpus
from isotrope.text.plan import Plan, held_out_rows, plan_batches
from isotrope.text.sources import Source, kind_of, shown, text_columns
from isotrope.text.survey import Survey
from isotrope.text.units import Unit, Units, check_unit
from isotrope.training.further_pairs import with_further_pairs
from isotrope.training.processes import is_main_process, rank_and_world
from isotrope.training.run_folder import differences, read_json, undamaged
from isotrope.training.strange_text import strange_text
from isotrope.training.text_views import made_columns, with_text_views

MONITORED_ROWS = 256  # of which the label-free figures are taken
JUDGED_ROWS = 1000  # by whose neighbourhoods a fit is judged
ONE_IN = 10  # rows that are held out for that
WANTED = FEWEST + FEWEST // 2  # of them at least: some may be too much alike
MEASURED_ROWS = 10_000  # whose length is looked at
_TOLD: ContextVar[set[str] | None] = ContextVar("told", default=None)
PLAIN = ("text",)  # the columns of a stage that needs nothing but text


class StageText(NamedTuple):
    """What a stage reads. `held_out` are rows that are never trained on: some where there is no development set.

    `found` says what was read and what of it will hurt, `notes` what was split, and what is longer than is read.
    """

    corpus: Corpus
    plan: Plan | None  # None where nothing is learnt by gradient
    held_out: list[int]
    found: tuple[str, ...]
    notes: tuple[str, ...]

    def drawn(self, most: int, seed: int) -> list[str]:
        """At most so many texts of the first column, none of them held out."""
        rows = np.setdiff1d(np.arange(len(self.corpus)), self.held_out)
        if len(rows) > most:
            rows = np.sort(np.random.default_rng(seed).choice(rows, most, replace=False))
        texts: list[str] = self.corpus.rows(rows.tolist())[text_columns(self.corpus.columns)[0]]
        return texts


def read_stage_text(
    stage: Stage,
    folder: Path,
    sources: Sequence[Source],
    column: str | None,
    reader: Encoder,
    *,
    unit: Unit = "auto",
    scored: bool,
    resume: bool,
) -> StageText:
    """Reads the sources into `folder/corpus`, with the columns that the recipe has made of them.

    `reader` is the encoder that will read the texts: what it would cut off is counted.
    """
    there, training = folder / "corpus", stage.training
    chosen: Unit = "document" if unit == "auto" and stage.takes_documents else unit
    units = Units(chosen, lambda texts: reader.too_long(texts, training.max_length))
    given, called = with_text_views(sources, stage, column, folder, units)
    given = with_further_pairs(given, stage, called)
    survey = Survey()
    plain = units if stage.columns == PLAIN else None
    build_text(given, stage.columns, there, called, plain, survey, resume=resume)
    corpus = Corpus(there)
    held_out = [] if scored else held_out_of(corpus, fitted=stage.fit is not None)
    plan = _plan(corpus, training, held_out) if stage.learns else None
    found = (*survey.lines(), *strange_text(survey, reader, stage.student_columns))
    return StageText(corpus, plan, held_out, found, tuple(_notes(corpus, units, reader, stage)))


def tell(texts: Sequence[StageText]) -> None:
    """Says what is to be said of the texts of some stages, each thing once."""
    told = _TOLD.get()
    notes = [note for text in texts for note in ((*text.found, *text.notes) if told is None else text.notes)]
    for note in dict.fromkeys(notes):
        if told is None or note not in told:
            Display("text", shown=is_main_process()).say(note)
    if told is not None:
        told.update(notes)


def tell_of_input(note: str) -> None:
    """Says what was read, unless all was said already."""
    if _TOLD.get() is None:
        Display("text", shown=is_main_process()).say(note)


@contextmanager
def told_already() -> Iterator[None]:
    """Inside, runs read parts of a text of which all was said: each says only what none before it said."""
    before = _TOLD.set(set())
    try:
        yield
    finally:
        _TOLD.reset(before)


def held_out_of(corpus: Corpus, *, fitted: bool) -> list[int]:
    """Rows that a stage never learns from; more of them where a fit is judged by the neighbourhoods of its text."""
    if not fitted or corpus.counts.distinct < JUDGED_ROWS:  # of which a tenth would be too few for a judgement
        return held_out_rows(corpus, MONITORED_ROWS)
    return held_out_rows(corpus, JUDGED_ROWS, one_in(corpus))


def one_in(corpus: Corpus) -> int:
    """One text in how many is held out to judge by: of little text more, since a hundred different ones are needed."""
    return min(ONE_IN, max(2, corpus.counts.distinct // WANTED))


def whole_batch(training: Training) -> int:
    """How many rows a batch has over all processes."""
    return training.batch_size * (rank_and_world()[1] if training.batch_per_device else 1)


def _plan(corpus: Corpus, training: Training, held_out: Sequence[int]) -> Plan:
    return plan_batches(
        corpus,
        batch_size=whole_batch(training),
        epochs=training.epochs,
        steps=training.steps * training.gradient_accumulation if training.steps else None,
        seed=training.seed,
        drop_last=training.drop_last,
        held_out=held_out,
        few=training.few_shot,
    )


def check_splittable(recipe: Recipe, unit: str) -> None:
    """Refuses to split the text of a recipe that reads pairs and the like, whose sides belong together."""
    check_unit(unit)
    if unit == "sentence" and not any(stage.columns == PLAIN or made_columns(stage) for stage in recipe.stages):
        raise IsotropeError(
            f"recipe {recipe.name} reads {kind_of(recipe.stages[0].columns)}, which are never split; leave out unit=",
            argument="unit=",
        )


def _notes(corpus: Corpus, units: Units, reader: Encoder, stage: Stage) -> Iterator[str]:
    """What was split, and how many texts are cut; of a large corpus some rows are looked at, evenly spaced."""
    texts = "texts" if corpus.columns == PLAIN else kind_of(corpus.columns)
    yield str(units) if units.splits else f"{len(corpus):,} {texts}, not split into sentences"
    if stage.takes_documents:  # every part of a text has its turn
        return
    rows = np.unique(np.linspace(0, len(corpus) - 1, min(MEASURED_ROWS, len(corpus))).astype(int))
    found, max_length = corpus.rows(rows), stage.training.max_length
    cut = sum(
        np.logical_or.reduce([reader.too_long(found[column], max_length) for column in text_columns(corpus.columns)])
    )
    if cut:
        seen = "" if len(rows) == len(corpus) else " checked"
        longest = min(max_length or reader.max_seq_length, reader.max_seq_length)
        many = f"{cut:,} of {len(rows):,} {texts}{seen}"
        are, them = ("is", "it") if cut == 1 else ("are", "them")
        yield f"{many} {are} longer than {longest} tokens; the rest of {them} is not read"


def build_text(
    sources: Sequence[Source],
    columns: tuple[str, ...],
    there: Path,
    column: str | None,
    units: Units | None,
    survey: Survey | None = None,
    *,
    resume: bool,
) -> None:
    """Builds the corpus beside its place; a resumed run must find the text of the original one."""
    with whole_folder(there, force=True) as scratch:  # the same text again, should the files have been damaged since
        build_corpus(sources, columns, scratch, column=column, units=units, survey=survey)
        if resume and there.is_dir():
            _check_text_is_the_same(there, scratch)


def _check_text_is_the_same(there: Path, again: Path) -> None:
    before, now = (read_json(one / ABOUT) for one in (there, again))
    with undamaged(there / ABOUT):
        if before["fingerprint"] == now["fingerprint"]:
            return
        changed = shown(differences(before["counts"], now["counts"]) or ["the texts differ"], "; ")
        sources = f"{shown(before['sources'])} -> {shown(now['sources'])}"
    raise IsotropeError(f"{there.parent}: the text is not that of the original run: {sources}; {changed}")
