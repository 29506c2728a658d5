"""What a run leaves: the encoder, what it was made of, and what was measured on the way."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isotrope.encoders import Encoder
from isotrope.recipes.schema import Recipe
from isotrope.training.run_folder import LOG, stage_folders

LABEL_FREE = ("alignment", "uniformity", "effective_rank", "mean_cosine", "held_out_loss")


@dataclass(frozen=True)
class Run:
    """A finished run.

    Attributes:
        folder: the run folder, with `recipe.toml`, `log.jsonl`, checkpoints and the saved encoder.
        encoder: the tuned encoder, as it lies in `folder/encoder`.
        recipe: every number of it, defaults too.
        model: the name of the encoder that it started from.
        scores: Spearman x 100 on the development set, `before` and `after`; None without one.
        seconds: how long it took; of a resumed run, the last part.
    """

    folder: Path
    encoder: Encoder
    recipe: Recipe
    model: str
    scores: dict[str, float] | None
    seconds: float

    def encode(self, sentences: Any, **options: Any) -> Any:
        """`Encoder.encode` of the tuned encoder."""
        return self.encoder.encode(sentences, **options)

    @property
    def logs(self) -> list[list[dict[str, Any]]]:
        """The lines of each stage's log."""
        files = [folder / LOG for folder in stage_folders(self.folder, self.recipe)]
        return [[json.loads(line) for line in file.read_text().splitlines()] for file in files]

    @property
    def log(self) -> list[dict[str, Any]]:
        """The lines of the last stage's log: one for each time that losses or evaluations were noted."""
        return self.logs[-1]

    @property
    def steps(self) -> int:
        """Optimiser steps, of all stages."""
        return sum(int(lines[-1]["step"]) for lines in self.logs)

    @property
    def corpus(self) -> dict[str, int]:
        """What was counted in the text of the last stage: rows, and those that were left out."""
        counts: dict[str, int] = json.loads(
            (stage_folders(self.folder, self.recipe)[-1] / "corpus" / "corpus.json").read_text()
        )["counts"]
        return counts

    @property
    def figures(self) -> dict[str, dict[str, float]]:
        """Figures that need no labels, `before` the first step of the last stage and `after` its last."""
        measured = [line for line in self.log if "eval_uniformity" in line]
        return {
            name: {"before": measured[0][f"eval_{name}"], "after": measured[-1][f"eval_{name}"]}
            for name in LABEL_FREE
            if f"eval_{name}" in measured[0]
        }

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
            "dev": self.scores,
            "figures": self.figures,
        }
