"""What a run leaves: the encoder, what it was made of, and what was measured on the way."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from isotrope.encoders import Encoder, ForeignEncoder, load
from isotrope.encoders.precision import encoding_in
from isotrope.evaluation import Comparison, compare
from isotrope.io.durations import rough_duration
from isotrope.io.errors import IsotropeError
from isotrope.recipes.schema import Recipe
from isotrope.text.corpus import Corpus
from isotrope.text.sources import text_columns
from isotrope.training.automatic import TRIED, Outcome, development_scores
from isotrope.training.run_folder import LOG, stage_folders
from isotrope.training.run_log import read_log
from isotrope.training.stage_text import held_out_of

LABEL_FREE = ("alignment", "uniformity", "effective_rank", "mean_cosine", "held_out_loss")


@dataclass(frozen=True, repr=False)
class Run:
    """A finished run. `print` shows in a few lines what it was and what came of it.

    Attributes:
        folder: the run folder, with `recipe.toml`, `log.jsonl` and the saved encoder.
        encoder: the tuned encoder, as it lies in `folder/encoder`.
        recipe: every number of it, defaults too.
        model: the name of the encoder that it started from.
        scores: Spearman x 100 on the development set, `before` and `after`; None without one.
        seconds: how long it took; of a resumed run, the last part.
        start: the model to tune, as it was given.
    """

    folder: Path
    encoder: Encoder
    recipe: Recipe
    model: str
    scores: dict[str, float] | None
    seconds: float
    start: Any

    def __repr__(self) -> str:
        recipe = self.recipe.full_name.removesuffix(":paper")
        lines = [f"{recipe} on {self.model}: {rough_duration(self.seconds)}", f"Folder: {self.folder}"]
        if self.outcome:
            lines += [f"Kept: the {self.outcome.kept} encoder", self.outcome.because]
            lines += [self.outcome.advice] if self.outcome.advice else []
        elif self.scores:
            lines += [development_scores(self.scores)]
        return "\n".join(lines)

    def encode(self, sentences: Any, **options: Any) -> Any:
        """`Encoder.encode` of the tuned encoder."""
        return self.encoder.encode(sentences, **options)

    @property
    def logs(self) -> list[list[dict[str, Any]]]:
        """The lines of each stage's log."""
        files = [folder / LOG for folder in stage_folders(self.folder, self.recipe)]
        return [read_log(file) if file.is_file() else [] for file in files]  # none where nothing was learnt

    @property
    def log(self) -> list[dict[str, Any]]:
        """The lines of the last stage's log: one for each time that losses or evaluations were noted."""
        return self.logs[-1]

    @property
    def steps(self) -> int:
        """Optimiser steps, of all stages."""
        return sum(int(lines[-1]["step"]) for lines in self.logs if lines)

    @property
    def corpus(self) -> dict[str, int]:
        """What was counted in the text of the last stage: rows, and those that were left out."""
        counts: dict[str, int] = self._about["counts"]
        return counts

    @property
    def survey(self) -> dict[str, Any]:
        """What was read: rows, blank ones, duplicates, near-duplicates, markup, placeholders, languages."""
        return dict(self._about.get("survey", {}))

    @property
    def figures(self) -> dict[str, dict[str, float]]:
        """Figures that need no labels, `before` the first step of the last stage and `after` its last."""
        measured = [line for line in self.log if "eval_uniformity" in line]
        return (
            {}
            if not measured
            else {
                name: {"before": measured[0][f"eval_{name}"], "after": measured[-1][f"eval_{name}"]}
                for name in LABEL_FREE
                if f"eval_{name}" in measured[0]
            }
        )

    @cached_property
    def verdict(self) -> Comparison | None:
        """Whether the tuned encoder, kept or not, is better than the one it started from, without labels.

        It is found on the rows that were held out, and only when asked for; None where they are too few for a verdict,
        or where a development set was given, whose `scores` tell more.
        """
        return None if self.scores else judged(self.folder, self.recipe, load(self.start), self._tuned)

    @property
    def outcome(self) -> Outcome | None:
        """What became of a run without a recipe; None where one was given."""
        return Outcome.read(self.folder)

    @property
    def _tuned(self) -> Encoder:
        """What the recipe made; `encoder` is what was kept."""
        return load(self.folder / TRIED) if self.outcome and self.outcome.kept == "untuned" else self.encoder

    @property
    def _about(self) -> dict[str, Any]:
        file = stage_folders(self.folder, self.recipe)[-1] / "corpus" / "corpus.json"
        about: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        return about

    def as_json(self) -> dict[str, Any]:
        """What `isotrope train --json` prints."""
        return {
            "output": str(self.folder),
            "encoder": str(self.folder / "encoder"),
            "recipe": self.recipe.full_name,
            "model": self.model,
            "steps": self.steps,
            "seconds": round(self.seconds, 1),
            "corpus": self.corpus,
            "survey": self.survey,
            "dev": self.scores,
            "figures": self.figures,
            "outcome": asdict(self.outcome) if self.outcome else None,
        }


def judged(folder: Path, recipe: Recipe, start: Encoder, tuned: Encoder) -> Comparison | None:
    """The encoder as it was, pooled as the tuned one is, and the tuned one on text that it has not learnt from.

    Both encode in the precision of the run. None where there is too little of it.
    """
    stage = recipe.stages[-1]
    corpus = Corpus(stage_folders(folder, recipe)[-1] / "corpus")
    with encoding_in(stage.training.precision, start, tuned):
        return judged_on(corpus, start.with_pooling(stage.pooling.evaluation), tuned, fitted=stage.fit is not None)


def judged_on(
    corpus: Corpus, start: Encoder | ForeignEncoder, tuned: Encoder | ForeignEncoder, *, fitted: bool
) -> Comparison | None:
    """Two encoders on the rows of a corpus that no run learns from; None where they are too few."""
    rows = held_out_of(corpus, fitted=fitted)
    text = corpus.rows(rows)[text_columns(corpus.columns)[0]] if rows else []
    try:
        return compare(start, tuned, text) if text else None
    except IsotropeError:  # too few
        return None
