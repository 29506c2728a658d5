"""Every rule about what fits together: what it refuses, in which words, and the nearest thing that it lets pass."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from isotrope import recipes
from isotrope.io.errors import IsotropeError
from isotrope.recipes.schema import Stage

PAIR = ["sentence1", "sentence2"]
NLI = {"supervision": {"kind": "nli"}}
OF_NLI = {"views": {"first": {"column": PAIR}, "second": {"column": PAIR}}, **NLI}


def attack(which: str, **more: Any) -> dict[str, Any]:
    """An adversarial view of the labelled texts."""
    views: dict[str, Any] = {"first": {"column": PAIR}, "second": {"column": PAIR}}
    views[which] = {"kind": "adversarial", "column": PAIR}
    return {"views": views, **NLI, **more}


Rule = tuple[dict[str, Any], str, dict[str, Any]]  # refused, in these words; what would pass
RULES: dict[str, Rule] = {
    "nothing to learn": (
        {"objective": "none"},
        "nothing to learn: objective.kind is 'none' and supervision.kind 'none'",
        {"objective": "none", **NLI},
    ),
    "no second view": (
        {"objective": "mlm", "views": {"second": {"column": "other"}}},
        "views.second has no effect: objective.kind 'mlm' compares no two views; leave it out",
        {"objective": "mlm", "views": {"first": {"column": "other"}}},
    ),
    "no negatives to compare": (
        {"objective": "mlm", "views": {"negative": "other"}},
        "views.negative has no effect: objective.kind 'mlm' compares no two views; leave it out",
        {"objective": "mlm"},
    ),
    "no two ways round": (
        {"objective": "mlm", "views": {"symmetric": True}},
        "views.symmetric has no effect: objective.kind 'mlm' compares no two views; leave it out",
        {"objective": "mlm", "views": {"symmetric": False}},
    ),
    "no columns to contrast": (
        {"objective": "mlm", "views": {"contrast": "by-column"}},
        "views.contrast has no effect: objective.kind 'mlm' compares no two views; leave it out",
        {"objective": "mlm", "views": {"contrast": "together"}},
    ),
    "no guide": (
        {"objective": "none", "guide": "momentum", **NLI},
        "guide has no effect: objective.kind 'none' compares no two views; leave it out",
        {"objective": "none", "guide": "self", **NLI},
    ),
    "nobody guides": (
        {"negatives": {"margin": 0.1}},
        'negatives.margin has no effect without negatives.guided_by: set that too, to "start" for example',
        {"negatives": {"guided_by": "start", "margin": 0.1}},
    ),
    "no bound": (
        {"negatives": {"guided_by": "start"}},
        "negatives.guided_by needs to know what is too near: set negatives.margin, negatives.threshold, or both",
        {"negatives": {"guided_by": "start", "threshold": 0.7}},
    ),
    "no negatives to leave out": (
        {"objective": "bootstrap", "negatives": {"guided_by": "start", "threshold": 0.7}},
        "negatives.guided_by has no effect: objective.kind 'bootstrap' can't leave out negatives; leave it out",
        {"objective": "info-nce", "negatives": {"guided_by": "start", "threshold": 0.7}},
    ),
    "nothing is nearer than the same text": (
        {"negatives": {"guided_by": "start", "margin": 0}},
        "negatives.margin leaves nothing out: both views read the same text, whose similarity to itself is 1; "
        "set negatives.threshold or a margin above 0",
        {"negatives": {"guided_by": "start", "margin": 0}, "views": {"second": {"column": "other"}}},
    ),
    "no queue": (
        {"objective": "mlm", "queue": {"size": 8}},
        "queue has no effect: objective.kind 'mlm' compares no two views; leave it out",
        {"objective": "mlm", "queue": {"size": 0}},
    ),
    "no heads": (
        {"objective": "mlm", "heads": {"projection": "linear"}},
        "heads has no effect: objective.kind 'mlm' compares no two views; leave it out",
        {"objective": "nt-xent", "heads": {"projection": "linear"}},
    ),
    "no first view": (
        {"objective": "none", "views": {"first": "shuffle"}, **NLI},
        "views.first has no effect: objective.kind 'none' compares no two views; leave it out",
        {"objective": "nt-xent", "views": {"first": "shuffle"}},
    ),
    "text as it stands": (
        {"objective": "mlm", "views": {"first": "shuffle"}},
        "views.first.kind has no effect: objective.kind 'mlm' reads the text unchanged; leave it out",
        {"objective": "mlm", "views": {"first": {"column": "title"}}},
    ),
    "equally many columns": (
        {"views": {"first": {"column": ["a", "b"]}}},
        "views.first.column and views.second.column must name the same number of columns",
        {"views": {"first": {"column": ["a", "b"]}, "second": {"column": ["c", "d"]}}},
    ),
    "columns to tell apart": (
        {"views": {"contrast": "by-column"}},
        "views.contrast 'by-column' tells several columns apart; views.first.column names one",
        {"views": {"contrast": "by-column", "first": {"column": ["a", "b"]}, "second": {"column": ["a", "b"]}}},
    ),
    "further pairs": (
        {"views": {"also": [["a", "b"]]}},
        "views.also adds pairs to pairs; this recipe reads text",
        {"views": {"also": [["a", "b"]], "second": {"column": "view1"}}},
    ),
    "further pairs beside negatives": (
        {"views": {"also": [["a", "b"]], "second": {"column": "view1"}, "negative": "n"}},
        "views.also adds pairs to pairs; this recipe reads text, view1, n",
        {"views": {"second": {"column": "view1"}, "negative": "n"}},
    ),
    "a vector per layer": (
        {"objective": "info-nce", "guide": "frozen-layers"},
        "objective.variant opt3 and guide.sampler 'all' of frozen layers belong together: the one compares with a "
        "vector per layer, the other gives them",
        {"objective": "info-nce", "guide": {"kind": "frozen-layers", "sampler": "uniform"}},
    ),
    "one vector for opt3": (
        {"objective": "self-guided", "guide": "momentum"},
        "objective.variant opt3 and guide.sampler 'all' of frozen layers belong together: the one compares with a "
        "vector per layer, the other gives them",
        {"objective": {"kind": "self-guided", "variant": "opt1"}, "guide": "momentum"},
    ),
    "a queue without negatives": (
        {"objective": "bootstrap", "queue": {"size": 8}},
        "queue.size has no effect: objective.kind 'bootstrap' has no negatives; leave it out",
        {"objective": "info-nce", "queue": {"size": 8}},
    ),
    "hard negatives without negatives": (
        {"objective": "bootstrap", "views": {"negative": "n"}},
        "views.negative has no effect: objective.kind 'bootstrap' has no negatives; leave it out",
        {"objective": "nt-xent", "views": {"negative": "n"}},
    ),
    "the guide's own tokenizer": (
        {"objective": "info-nce", "views": {"symmetric": True}, "guide": "teacher"},
        "views.symmetric also lets the guide read the student's text, and guide.kind 'teacher' has a tokenizer and a "
        "language of its own; leave it out",
        {"objective": "info-nce", "views": {"symmetric": True}, "guide": "momentum"},
    ),
    "symmetric anyway": (
        {"objective": "nt-xent", "views": {"symmetric": True}, "heads": {"projection": "linear"}},
        "views.symmetric has no effect: objective.kind 'nt-xent' counts both directions already",
        {"objective": "nt-xent", "views": {"symmetric": True}, "heads": {"predictor": "linear"}},
    ),
    "no projection to share": (
        {"heads": {"guide": "none"}},
        "heads.guide 'none' is about the guide's projection; there is no heads.projection",
        {"heads": {"guide": "none", "projection": "linear"}},
    ),
    "nothing to follow": (
        {"heads": {"guide": "momentum", "projection": "linear"}},
        "heads.guide 'momentum' follows the student's projection as a momentum guide follows the student; "
        "guide.kind is 'self'",
        {"heads": {"guide": "momentum", "projection": "linear"}, "guide": "momentum"},
    ),
    "a projection for two encoders": (
        {"heads": {"projection": "linear"}, "guide": "dual"},
        "guide.kind 'dual' is another encoder, whose vectors may have another width than the student's: set "
        'heads.guide = "none", so that heads.projection is on the student\'s side alone',
        {"heads": {"projection": "linear", "guide": "none"}, "guide": "dual"},
    ),
    "batch norm over one sentence": (
        {"heads": {"predictor": "predictor"}, "training": {"drop_last": False}},
        "a head with batch norm needs more than one sentence, and the last batch may have one: set drop_last",
        {"heads": {"predictor": "linear"}, "training": {"drop_last": False}},
    ),
    "an attack without labels": (
        {"views": {"second": "adversarial"}},
        "views.second.kind 'adversarial' follows the gradient of a supervised loss: set supervision.kind",
        attack("second"),
    ),
    "an attack on other texts": (
        {"views": {"first": "adversarial"}, **NLI},
        "views.first.kind 'adversarial' needs views.first.column = ['sentence1', 'sentence2'], the labelled texts",
        attack("first"),
    ),
    "an attack on another encoder": (
        attack("second", guide="teacher"),
        "views.second.kind 'adversarial' alters the student's own embeddings; guide.kind 'teacher' has others",
        attack("first", guide="teacher"),
    ),
    "a view of what is kept": (
        {"guide": {"kind": "teacher", "cache": True}, "views": {"second": "shuffle"}},
        "guide.cache keeps one vector of each text; views.second.kind would alter it each time: leave out one",
        {"guide": {"kind": "teacher", "cache": True}, "views": {"first": "shuffle"}},
    ),
    "several columns of what is kept": (
        {"guide": {"kind": "teacher", "cache": True}, **OF_NLI},
        "guide.cache keeps the vectors of one column; views.second.column names several",
        {"guide": {"kind": "teacher", "cache": False}, **OF_NLI},
    ),
    "dropout of what is kept": (
        {"guide": {"kind": "teacher", "cache": True, "dropout": True}},
        "guide.cache keeps one vector of each text; guide.dropout would draw a new one each time: leave out one",
        {"guide": {"kind": "teacher", "cache": True}},
    ),
}


@pytest.mark.parametrize("rule", RULES)
def test_what_does_not_fit_is_refused_in_words_and_the_nearest_that_does_is_not(rule: str) -> None:
    wrong, words, right = RULES[rule]
    with pytest.raises(ValidationError) as told:
        Stage.model_validate(wrong)
    (problem,) = told.value.errors()
    assert str(problem["ctx"]["error"]) == words
    Stage.model_validate(right)


def test_a_file_says_where(tmp_path: Any) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('[objective]\nkind = "bootstrap"\n[queue]\nsize = 3\n')
    with pytest.raises(IsotropeError) as told:
        recipes.load(file)
    assert str(told.value) == f"{file}: {RULES['a queue without negatives'][1]}"
    with pytest.raises(IsotropeError, match=r"^recipe consert-joint-unsup: stages\.1: nothing to learn: "):
        recipes.load("consert-joint-unsup", {"stages.1.objective.kind": "none"})


def test_the_readmes_example_is_no_exception() -> None:
    """ConSERT's views, a momentum guide and a queue: a new file and no code."""
    Stage.model_validate(
        {"views": {"first": "feature-cutoff", "second": "shuffle"}, "guide": "momentum", "queue": {"size": 64}}
    )
