"""Every key that a part has does something: changed, it changes the loss, the state or the log."""

from __future__ import annotations

from typing import Any

import pytest

from isotrope.guides import GUIDES
from isotrope.heads import PREDICTORS
from isotrope.objectives import OBJECTIVES
from isotrope.objectives.distillation import DISTILLATION
from isotrope.objectives.supervision import SUPERVISION
from isotrope.parts import Registry
from isotrope.recipes.merging import merge
from isotrope.views.drawn import DRAWN
from isotrope.views.embedding import VIEWS

from .product import PAIR, Bench, Table, accepted, optimiser_of

# What a kind needs around it, and keys that only act together with others
AROUND: dict[str, Table] = {
    "frozen-layers": {"objective": {"kind": "self-guided"}},
    "listnet": {"objective": {"kind": "none"}},
    "teacher": {"guide": {"model": "TEACHER"}},
    "dual": {"guide": {"model": "TEACHER"}},
    "momentum-queue": {"queue": {"size": 6}},
    "self-guided": {"guide": {"kind": "frozen-layers"}},
    "adversarial": {"supervision": {"kind": "nli"}, "views": {"first": {"column": PAIR}, "second": {"column": PAIR}}},
    "none": {"supervision": {"kind": "nli"}},
}
ONE_LAYER: Table = {"guide": {"sampler": "uniform"}, "objective": {"kind": "nt-xent"}}
BATCH_NORMED: Table = {"heads": {"projection": {"kind": "predictor", "ratio": 2}, "guide": "momentum"}}
FLIPS: dict[tuple[str, str, str], tuple[Table, Table]] = {  # (section, kind, key): what is around, what is changed
    ("guide", "frozen-layers", "layers"): ({}, {"guide": {"layers": [1]}}),
    ("guide", "frozen-layers", "sampler"): (ONE_LAYER, {"guide": {"sampler": "last-k", "k": 1}}),
    ("guide", "frozen-layers", "weights"): (
        ONE_LAYER | {"guide": {"sampler": "weighted", "weights": [1, 0]}},
        {"guide": {"weights": [0, 1]}},
    ),
    ("guide", "frozen-layers", "k"): (ONE_LAYER | {"guide": {"sampler": "last-k", "k": 1}}, {"guide": {"k": 2}}),
    ("guide", "momentum", "buffers"): (BATCH_NORMED, {"guide": {"buffers": False}}),
    **{
        ("distillation", kind, "alpha"): (
            {"distillation": {"teachers": ["start", "TEACHER"]}},
            {"distillation": {"alpha": 0.9}},
        )
        for kind in ("similarities", "listnet", "listmle")
    },
    **{
        ("distillation", kind, "consistency_temperature"): (
            {"distillation": {"consistency": 1.0}, "objective": {"kind": "nt-xent"}},
            {"distillation": {"consistency_temperature": 0.5}},
        )
        for kind in ("listnet", "listmle")
    },
    ("distillation", "listnet", "consistency"): (
        {"objective": {"kind": "nt-xent"}},
        {"distillation": {"consistency": 1.0}},
    ),
    ("views.first.draw", "neighbours", "recompute"): (
        {},
        {"views": {"first": {"draw": {"recompute": 1}}}},
    ),
    ("views.first.draw", "crop", "overlap"): (
        {"views": {"second": {"draw": "crop"}}},
        {"views": {"first": {"draw": {"overlap": False}}, "second": {"draw": {"overlap": False}}}},
    ),
    ("views.first.draw", "word-deletion", "rate"): ({}, {"views": {"first": {"draw": {"rate": 0.2}}}}),
    ("objective", "self-guided", "variant"): (
        {"guide": {"kind": "frozen-layers", "sampler": "uniform"}, "objective": {"variant": "opt1"}},
        {"objective": {"variant": "opt2"}},
    ),
}
for place in ("projection", "predictor"):  # the paper's 4,096 would be slow
    FLIPS |= {
        (f"heads.{place}", "projection", "width"): ({"heads": {place: {"width": 4}}}, {"heads": {place: {"width": 5}}}),
        (f"heads.{place}", "projection", "ratio"): ({"heads": {place: {"ratio": 2}}}, {"heads": {place: {"ratio": 3}}}),
        (f"heads.{place}", "projection", "layers"): (
            {"heads": {place: {"width": 4}}},
            {"heads": {place: {"layers": 1}}},
        ),
    }
LEARNT: Table = {"objective": {"learnable_temperature": True}}
FLIPS |= {
    ("objective", kind, "temperature_rate"): (LEARNT, {"objective": {"temperature_rate": 0.9}})
    for kind in ("nt-xent", "info-nce", "self-guided")
}
CHANGED: dict[str, Any] = {
    "column": "other",
    "draw": {"kind": "crop"},
    "size": 2,
    "k": 2,
    "words": [0.1, 0.2],
    "at": "word",
    "rounding": "down",
    "variant": "official",
    "norm": "token",
    "pooling": "mean",
    "schedule": "cosine",
    "epsilon": 3.0,
    "momentum": 0.5,
    "anchor": 0.5,
    "masked": 0.9,
    "decoder": 2,
    "temperature": 0.7,
    "teacher_temperature": 0.7,
    "consistency": 1.0,
    "teachers": ["TEACHER"],
    "distance": "mse",
    "weight": 0.5,
    "ratio": 3,
    "width": 5,
    "first_layer": 1,
    "rate": 0.6,
    "layers": 1,
    "blocks": 2,
}
ELSEWHERE = {"kind", "model", "model_pooling", "teacher_pooling", "cache"}  # how a teacher is loaded: see tests of runs
FIXED = {
    ("distillation", "vectors", "teachers"),  # the other teacher of these tests is wider than the student
    ("distillation", "vectors", "alpha"),
    ("views.first", "adversarial", "column"),  # any other than the labelled texts is refused
    ("views.first", "adversarial", "draw"),  # it needs them as they stand
    ("views.first", "shuffle", "offset"),  # for encoders that count positions from another number; see those of views
}


ROOMS: dict[str, Registry[Any]] = {
    "views.first": VIEWS,
    "views.first.draw": DRAWN,
    "guide": GUIDES,
    "objective": OBJECTIVES,
    "supervision": SUPERVISION,
    "distillation": DISTILLATION,
    "heads.predictor": PREDICTORS,
    "heads.projection": PREDICTORS,
}


def keys() -> list[tuple[str, str, str]]:
    """Every key of every part, and the section that it is tried in."""
    return [
        (section, kind, key)
        for section, room in ROOMS.items()
        for kind, spec in room.specs.items()
        for key in spec.model_fields
        if key not in ELSEWHERE and (section, kind, key) not in FIXED
    ]


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(tmp_path_factory.mktemp("tiny"))


@pytest.mark.parametrize(("section", "kind", "key"), keys())
def test_a_key_has_an_effect(bench: Bench, section: str, kind: str, key: str) -> None:
    base: Table = {"pooling": {"training": "mean", "evaluation": "mean"}, "training": {"batch_size": 4}}
    if (section, kind) not in (("supervision", "none"), ("distillation", "none")):
        around = {} if (section, kind) == ("views.first", "none") else AROUND.get(kind, {})
        base = merge(base, merge(around, nested(section, {"kind": kind})))
    flip = FLIPS.get((section, kind, key))
    more, change = flip or ({}, nested(section, {key: changed(section, kind, key)}))
    before = merge(base, more)
    assert outcome(bench, before) != outcome(bench, merge(before, change))


GUIDED: Table = {"views": {"second": {"column": "other"}}, "negatives": {"guided_by": "start", "margin": 0.0}}
SECTIONS = [
    ({"views": GUIDED["views"]}, GUIDED),
    (GUIDED, {"negatives": {"guided_by": "TEACHER"}}),
    (GUIDED, {"negatives": {"margin": 0.3}}),
    (GUIDED, {"negatives": {"margin": "default", "threshold": 0.9}}),
    ({"negatives": {"guided_by": "start", "threshold": 0.9}}, {"negatives": {"threshold": 0.3}}),
    (GUIDED | {"queue": {"size": 6}}, {"negatives": {"guided_by": "TEACHER"}}),
    ({}, {"queue": {"size": 6}}),
    ({}, {"matryoshka": {"dims": [4]}}),
    ({"queue": {"size": 6}, "views": {"negative": "hard"}}, {"matryoshka": {"dims": [4]}}),
    ({"matryoshka": {"dims": [4]}}, {"matryoshka": {"weights": [0.5]}}),
    ({"matryoshka": {"dims": [4]}}, {"matryoshka": {"dims": [4, 2]}}),
    ({"objective": {"kind": "info-nce"}}, {"views": {"symmetric": True}}),
    ({}, {"views": {"negative": "hard"}}),
    ({"views": {"first": {"column": PAIR}, "second": {"column": PAIR}}}, {"views": {"contrast": "by-column"}}),
    ({"heads": {"projection": {"ratio": 2}}}, {"heads": {"guide": "none"}}),
    ({"guide": {"kind": "momentum"}, "heads": {"projection": {"ratio": 2}}}, {"heads": {"guide": "momentum"}}),
]


@pytest.mark.parametrize(("before", "change"), SECTIONS)
def test_a_section_has_an_effect(bench: Bench, before: Table, change: Table) -> None:
    assert outcome(bench, before) != outcome(bench, merge(before, change))


def changed(section: str, kind: str, key: str) -> Any:
    """Another value of a key."""
    room = ROOMS[section]
    default = room.specs[kind].model_fields[key].default
    if isinstance(default, bool):
        return not default
    if key == "norm" and kind == "predictor":
        return "first"
    return CHANGED[key]


def nested(section: str, table: Table) -> Table:
    for name in reversed(section.split(".")):
        table = {name: table}
    return table


def outcome(bench: Bench, table: Table) -> tuple[Any, ...]:
    """Losses of three steps, what the log says beside them, and the whole state."""
    stage, refusal = accepted(table)
    assert stage is not None, refusal
    learner = bench.learner(stage)
    optimiser = optimiser_of(learner)
    losses = [bench.step(learner, optimiser, seed) for seed in (1, 2, 3)]
    state = {name: value.double().sum().item() for name, value in learner.state_dict().items()}
    return losses, learner.log_figures(), state
