"""The text of a stage: its corpus, the plan of its batches, and the rows that are held out."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from isotrope.io.errors import IsotropeError
from isotrope.recipes.schema import Stage
from isotrope.text.corpus import Corpus, build_corpus
from isotrope.text.plan import Plan, held_out_rows, plan_batches
from isotrope.text.sources import Source, shown
from isotrope.training.further_pairs import with_further_pairs
from isotrope.training.run_folder import differences, read_json
from isotrope.training.text_views import with_text_views

MONITORED_ROWS = 256  # of which the label-free figures are taken


class StageText(NamedTuple):
    """What a stage reads. `held_out` are rows that are never trained on: some where there is no development set."""

    corpus: Corpus
    plan: Plan
    held_out: list[int]


def read_stage_text(
    stage: Stage, folder: Path, sources: Sequence[Source], column: str | None, *, scored: bool, resume: bool
) -> StageText:
    """Reads the sources into `folder/corpus`, with the columns that the recipe has made of them."""
    there, training = folder / "corpus", stage.training
    given, called = with_text_views(sources, stage, column, folder)
    given = with_further_pairs(given, stage, called)
    _build(given, stage.columns, there, called, resume=resume)
    corpus = Corpus(there)
    held_out = [] if scored else held_out_rows(corpus, MONITORED_ROWS)
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
    return StageText(corpus, plan, held_out)


def _build(
    sources: Sequence[Source], columns: tuple[str, ...], there: Path, column: str | None, *, resume: bool
) -> None:
    """Builds the corpus beside its place; a resumed run must find the text of the original one."""
    scratch = there.with_name("corpus.new")
    try:
        build_corpus(sources, columns, scratch, column=column)
        if resume and there.is_dir():
            before, now = (read_json(one / "corpus.json") for one in (there, scratch))
            if before["fingerprint"] != now["fingerprint"]:
                changed = shown(differences(before["counts"], now["counts"]) or ["other text"], "; ")
                raise IsotropeError(
                    f"{there.parent}: the text differs from that of the original run: "
                    f"{shown(before['sources'])} -> {shown(now['sources'])}; {changed}"
                )
        else:
            scratch.rename(there)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
