"""`train` without a recipe: what the encoder is like decides what is tried, and the judge whether it is kept."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, get_args

from isotrope.encoders import Encoder
from isotrope.evaluation import load_pairs, score_pairs
from isotrope.evaluation.geometry import mean_cosine
from isotrope.evaluation.label_free.comparison import Comparison
from isotrope.evaluation.label_free.neighbourhoods import ALIKE
from isotrope.io.atomic import whole_or_nothing
from isotrope.io.errors import as_typed
from isotrope.text import bundled_sentences
from isotrope.training.run_folder import read_json, undamaged

OUTCOME = "outcome.json"
TRIED = "tried"  # where the encoder of a run is that was not kept
RAW, SENTENCE_ENCODER = "raw", "smooth"  # recipes: docs/domains.md has why these
KNOWS = 40  # Spearman x 100 on the bundled pairs, dev; a raw encoder's is below it: `bundled` has 8 to 22, `small` 50
SENTENCES = 300
DETAILS = "If near-duplicates must be told apart by small details, use {purpose}, or {dev} with graded pairs."
MORE = "More text may help, or {dev} with a hundred pairs that you graded yourself."
UNJUDGED = "There is too little text to judge the result: about 1,000 texts are needed, of which 100 are held out."

Kept = Literal["tuned", "untuned"]
Purpose = Literal["topics", "duplicates", "both"]  # what is to be found: texts of one kind, of one meaning, or either


def recipe_for(encoder: Encoder, purpose: Purpose) -> str:
    """The recipe that suits an encoder and what it is for."""
    name = RAW if is_raw(encoder) else SENTENCE_ENCODER
    return name if purpose == "both" else f"{name}:{purpose}"


def is_raw(encoder: Encoder) -> bool:
    """Whether an encoder was pre-trained only: to it all sentences are alike, and those that mean the same hardly more.

    Some sentence encoders have all their vectors in a narrow cone too. They rank graded pairs well all the same; one of
    another language does not rank these English ones, but most of them are normalised in the end, which no raw one is.
    """
    if len(encoder.after_pooling):
        return False
    if float(mean_cosine(encoder.encode(bundled_sentences()[:SENTENCES]))) <= ALIKE:
        return False
    return score_pairs(encoder, load_pairs("bundled", split="dev")).spearman["all"] < KNOWS


@dataclass(frozen=True)
class Outcome:
    """What became of a run without a recipe: which encoder was kept, why, and what to do if that is not enough."""

    kept: Kept
    because: str
    advice: str = ""

    def write(self, folder: Path) -> None:
        """Into the run folder."""
        with whole_or_nothing(folder / OUTCOME) as path:
            path.write_text(json.dumps(asdict(self), indent=2) + "\n", encoding="utf-8")

    @classmethod
    def read(cls, folder: Path) -> Outcome | None:
        """That of a run folder; None for a run with a recipe, which keeps what the recipe makes."""
        if not (folder / OUTCOME).is_file():
            return None
        with undamaged(folder / OUTCOME):
            found = cls(**read_json(folder / OUTCOME))
            if found.kept not in get_args(Kept):
                raise ValueError(found.kept)
            return found


def decide(
    scores: dict[str, float] | None, compared: Comparison | None, purpose: Purpose, *, raw: bool, enough: bool = True
) -> Outcome:
    """The tuned encoder is kept where a development set, or else the judge, says that it is better.

    What little text, not `enough`, says about a sentence encoder is not believed (docs/domains.md).

    All is alike to a raw encoder, so the cohesion of its neighbourhoods is no measure; what its neighbours have in
    common with the words of the text is: there what was tuned is kept unless neighbours are less alike in their words.
    """
    if scores is not None:
        better = scores["after"] > scores["before"]
        return Outcome("tuned" if better else "untuned", development_scores(scores))
    dev = as_typed("dev=")
    more, details = MORE.format(dev=dev), DETAILS.format(dev=dev, purpose=as_typed("purpose='duplicates'"))
    if compared is None or not (raw or enough):
        return Outcome("tuned", UNJUDGED) if raw else Outcome("untuned", UNJUDGED, more)
    if raw:
        kept = compared.together is None or compared.together.words.judgement != "worse"
    elif purpose == "duplicates":
        kept = compared.told_apart == "better" and compared.judgement != "worse" and not compared.trained_further
    else:
        kept = compared.judgement == "better"
    because = compared.reasons_for_raw if raw else compared.reasons
    if not kept:
        return Outcome("untuned", because, more)
    cost = purpose == "both" and compared.details is not None and compared.details.judgement == "worse"
    return Outcome("tuned", because, details if cost else "")


def development_scores(scores: dict[str, float]) -> str:
    """Both of them, in words."""
    return f"Spearman x 100 on the development set: {scores['before']:.2f} before, {scores['after']:.2f} after"
