"""From text and a recipe to a tuned encoder, in a run folder that can be resumed.

output/
  run.json       the settings of the run
  recipe.toml    the resolved recipe
  stage-1/ ...   where a recipe has several stages; a single stage lies in the run folder itself
    corpus/      the text as Arrow
    frozen/      what frozen encoders make of it, where the recipe reads that; draw-*/ what texts are drawn by
    checkpoint-N/    these three until the run is done, unless training.keep_checkpoints is on
    log.jsonl
  encoder/       the result, a sentence-transformers folder
  result.json    how long it took, the scores, the versions that it ran on; verdict.json: what the judge found
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isotrope import recipes
from isotrope.encoders import Encoder, load
from isotrope.encoders.devices import on_device
from isotrope.io.errors import IsotropeError
from isotrope.recipes.schema import Recipe
from isotrope.text.shaping import Shape
from isotrope.text.units import Unit
from isotrope.training.assemble import with_teacher
from isotrope.training.automatic import Purpose, recipe_for
from isotrope.training.development import development_scores, development_sets
from isotrope.training.precision import settled_precision
from isotrope.training.processes import is_main_process
from isotrope.training.record import Record
from isotrope.training.result import Run
from isotrope.training.run_folder import RUN, check_run, read_json
from isotrope.training.session import Session
from isotrope.training.stage_text import check_splittable
from isotrope.training.trackers import check_trackers

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer


def train(
    sentences: Any,
    recipe: str | Path | Recipe | Mapping[str, Any] | None = None,
    model: str | Path | Encoder | SentenceTransformer | None = None,
    output: str | Path = "runs/isotrope",
    *,
    steps: int | None = None,
    seed: int | None = None,
    precision: str | None = None,
    dev: str | Path | Sequence[str | Path] | None = None,
    data: str | Path | None = None,
    set: Mapping[str, Any] | None = None,  # noqa: A002
    teacher: str | Path | None = None,
    column: str | None = None,
    columns: str | Sequence[str] | None = None,
    join: str | None = None,
    strip_html: bool = False,
    device: str | None = None,
    purpose: Purpose = "both",
    unit: Unit = "auto",
    resume: bool = False,
    other_processes: bool = False,
) -> Run:
    """Tunes an encoder on raw text by a recipe.

    Args:
        sentences: strings, rows (dictionaries), a file, a data frame or `datasets.Dataset`, or a list of those.
        recipe: a name, `name:variant`, a TOML file, a table as TOML would give it, or a `Recipe`. Without one, what the
            model is like decides what is tried, and what was tried is kept only where it is judged to be better:
            `Run.outcome` says which.
        model: what to start from: a name, a folder, an `Encoder` or a `SentenceTransformer`, which stays as it is; by
            default `small`, and with a recipe the raw `bundled`, which the papers' recipes are for.
        output: the run folder; the encoder lies in `output/encoder`.
        steps: optimiser steps, in place of the recipe's.
        seed: in place of the recipe's.
        precision: float32, bfloat16, float16, or auto (bfloat16 where hardware and encoder allow it), in place of the
            recipe's.
        dev: `stsb`, `bundled` or a file of scored pairs, by which the best checkpoint is chosen, or a list with one of
            those for each stage; without it the last is kept.
        data: folder of the data sets that `dev` names.
        set: fields of the recipe by their dotted path, such as `{"training.batch_size": 64}`.
        teacher: the guide's model, for recipes whose guide is another encoder.
        column: what a table calls its text.
        columns: several columns of a table, `"Subject,Body"` or a list: each is a text of its own unless joined.
        join: what stands between the columns of a row, which make one text then: `". "`.
        strip_html: takes HTML out of the text.
        device: `cpu`, `cuda`, `mps` ...; by default the fastest there is.
        purpose: without a recipe, what the encoder is to find: `topics` (texts of one kind), `duplicates` (of one
            meaning), or `both`.
        unit: what is trained on: `sentence` splits every text into its sentences, `document` keeps texts whole; `auto`
            splits those of a file if more than a tenth of them have several sentences and are longer than the recipe
            reads.
        resume: go on with the run in `output`.
        other_processes: resume with another number of processes than the run had; the batches stay the same, what is
            drawn at random in each process (dropout) does not.

    Example:
        >>> import isotrope, tempfile
        >>> from isotrope.text import bundled_sentences
        >>> text = bundled_sentences()[:32]
        >>> run = isotrope.train(text, "simcse", output=tempfile.mkdtemp(), steps=2, set={"training.batch_size": 4})
        >>> run.steps, run.encode("A dog runs.").shape
        (2, (256,))
    """
    began = time.monotonic()
    named = {"training.steps": steps, "training.seed": seed, "training.precision": precision}
    chosen = {**dict(set or {}), **{path: value for path, value in named.items() if value is not None}}
    automatic = recipe is None
    shape = Shape.of(columns, join, strip_html, column=column)
    model = ("small" if automatic else "bundled") if model is None else model
    if not automatic and purpose != "both":
        raise IsotropeError("purpose= is for runs without a recipe; leave out one of the two", argument="purpose=")
    with on_device(device):
        recipe = _recipe_of(Path(output), model, purpose, resume=resume) if recipe is None else recipe
        if teacher is not None:
            chosen |= with_teacher(recipes.load(recipe, chosen), str(teacher))
        resolved = recipes.load(recipe, chosen)
        resolved = recipes.load(recipe, chosen | settled_precision(resolved, model, Path(output), resume=resume))
        for stage in resolved.stages:
            check_trackers(stage.training.report_to)
        check_splittable(resolved, unit)
        sets = development_sets(dev, len(resolved.stages))
        same = sets[0] if len(dict.fromkeys(sets)) == 1 else sets
        session = Session(Path(output), resolved, model, dev=same, unit=unit)
        session.automatic, session.purpose, session.other_processes = automatic, purpose, other_processes
        with session.open(resume):
            scores = development_scores(sets, data, resolved)
            encoder, found = session.run(sentences, shape, column, scores, resume=resume)
            seconds = time.monotonic() - began
            if is_main_process():
                Record.of(seconds, found, session.sources, shape, column).write(session.folder)
    return Run(session.folder, encoder, resolved, session.name, found, seconds, model)


def _recipe_of(folder: Path, model: Any, purpose: Purpose, *, resume: bool) -> str:
    """The recipe that suits the model; a resumed run has chosen already."""
    if resume:
        check_run(folder, resume=True)
        return str(read_json(folder / RUN).get("recipe"))
    return recipe_for(load(model), purpose)
