"""Where a paper's text and its published code differ, so do the variants `paper` and `official`; and nowhere else."""

from __future__ import annotations

from typing import Any

import pytest

from isotrope import recipes

SG = ("sg", "sg-opt1", "sg-opt2", "sg-opt")
BSL = ("bsl", "bsl-post", "bsl-multilingual")
CONSERT = ("consert", "consert-joint", "consert-sup-unsup", "consert-joint-unsup")
STAGES = {name: len(recipes.load(name).stages) for name in recipes.names()}


def everywhere(*names: str) -> list[str]:
    """`recipe/stage` of all stages."""
    return [f"{name}/{k}" for name in names for k in range(STAGES[name])]


# (row of the comparison, recipe/stage, path, the text's value, the code's)
ROWS: list[tuple[str, list[str], str, Any, Any]] = [
    ("view pooling p", everywhere(*SG), "guide.pooling", "max", "mean"),
    ("opt1", ["sg-opt1/0"], "objective.variant", "opt1", "opt1"),
    ("opt2", ["sg-opt2/0"], "objective.variant", "opt2", "opt2-official"),
    ("opt3", ["sg-opt/0"], "objective.variant", "opt3", "opt3"),
    ("opt3: every layer", ["sg-opt/0"], "guide.sampler", "all", "all"),
    ("L^base, whose code crashes", everywhere("sg", "bt"), "objective.kind", "nt-xent", "nt-xent"),
    ("layer sampler", everywhere("sg", "sg-opt1", "sg-opt2"), "guide.sampler", "uniform", "uniform"),
    ("layers", everywhere(*SG), "guide.layers", None, None),
    ("frozen copy", everywhere(*SG), "guide.dropout", False, True),
    ("projection head f", everywhere(*SG, "bt"), "heads.projection.layers", 2, 2),
    ("projection head f", everywhere(*SG, "bt"), "heads.projection.ratio", 4096 / 768, 4096 / 768),
    ("regulariser", everywhere(*SG, "bt"), "objective.anchor", 0.1, 0.1),
    ("regulariser: embeddings", everywhere(*SG, "bt"), "training.freeze_embeddings", True, True),
    ("weight decay, not stated", everywhere(*SG, "bt"), "training.weight_decay", 0.01, 0.01),
    ("schedule, not stated", everywhere(*SG, "bt"), "training.warmup", 0.1, 0.1),
    ("schedule, not stated", everywhere(*SG, "bt"), "training.schedule", "linear", "linear"),
    ("schedule, not stated", everywhere(*SG, "bt"), "training.clip", 1.0, 1.0),
    ("early stopping", everywhere(*SG, "bt"), "training.patience", 10, 10),
    ("early stopping: what is reported", everywhere(*SG, "bt"), "training.keep", "best", "last"),
    ("data: last batch", everywhere(*SG, "bt"), "training.drop_last", True, False),
    ("max length", everywhere(*SG, "bt"), "training.max_length", None, 128),
    ("optimiser's epsilon", everywhere(*SG, "bt"), "training.epsilon", 1e-8, 1e-6),
    ("agreeing", everywhere(*SG, "bt"), "training.learning_rate", 5e-5, 5e-5),
    ("agreeing", everywhere(*SG, "bt"), "training.betas", (0.9, 0.9), (0.9, 0.9)),
    ("agreeing", everywhere(*SG, "bt"), "training.batch_size", 16, 16),
    ("agreeing", everywhere(*SG, "bt"), "objective.temperature", 0.01, 0.01),
    ("agreeing", everywhere(*SG, "bt"), "training.eval_steps", 50, 50),
    ("native dropout", ["consert/0"], "training.dropout", 0.0, 0.0),
    (
        "native dropout",
        [*everywhere("consert-joint", "consert-joint-unsup"), "consert-sup-unsup/1"],
        "training.dropout",
        0.0,
        None,
    ),
    ("cutoff rates", ["consert-joint/0", "consert-joint-unsup/0"], "views.second.rate", 0.15, 0.1),
    ("cutoff rates", ["consert-sup-unsup/1"], "views.second.rate", 0.2, 0.1),
    ("cutoff rates", ["consert/0"], "views.first.rate", 0.2, 0.2),
    ("where; feature cutoff", ["consert/0"], "views.first.variant", "paper", "official"),
    ("shuffle", ["consert/0", "consert-joint-unsup/1"], "views.second.variant", "paper", "official"),
    ("token cutoff", ["consert-joint/0", "consert-joint-unsup/0"], "views.second.variant", "paper", "official"),
    ("feature cutoff", ["consert-sup-unsup/1"], "views.second.variant", "paper", "official"),
    ("NT-Xent", ["consert/0", "consert-sup-unsup/1", "consert-joint-unsup/1"], "objective.weight", 1.0, 0.15 * 2),
    ("NT-Xent", ["consert-joint/0", "consert-joint-unsup/0"], "objective.weight", 0.15, 0.15 * 2 * 2),
    ("optimiser", everywhere(*CONSERT), "training.optimiser", "adam", "adamw"),
    ("optimiser", everywhere(*CONSERT), "training.weight_decay", 0.0, 0.01),
    ("optimiser", everywhere(*CONSERT), "training.epsilon", 1e-8, 1e-6),
    ("optimiser", everywhere(*CONSERT), "training.clip", 1.0, 1.0),
    ("optimiser", ["consert-joint/0", "consert-joint-unsup/0"], "training.learning_rate", 5e-7, 2e-5),
    ("optimiser", ["consert/0", "consert-sup-unsup/1", "consert-joint-unsup/1"], "training.learning_rate", 5e-7, 5e-7),
    ("NLI classifier", [f"{name}/0" for name in CONSERT[1:]], "supervision.maximum", False, True),
    ("max length", everywhere(*CONSERT), "training.max_length", 64, 64 + 3),
    ("early stopping", ["consert/0", "consert-sup-unsup/1", "consert-joint-unsup/1"], "training.patience", None, 10),
    ("selection / test", everywhere(*CONSERT), "pooling.evaluation", "last2", "mean"),
    ("selection / test", everywhere(*CONSERT), "pooling.training", "mean", "mean"),
    ("last batch", everywhere(*CONSERT), "training.drop_last", True, False),
    ("agreeing", everywhere(*CONSERT), "training.batch_size", 96, 96),
    ("agreeing", ["consert/0", "consert-joint/0", "consert-sup-unsup/1"], "objective.temperature", 0.1, 0.1),
    ("agreeing", everywhere("consert-joint-unsup"), "objective.temperature", 0.1, 0.1),
    ("agreeing", everywhere(*CONSERT), "training.eval_steps", 200, 200),
    ("agreeing", everywhere(*CONSERT), "training.warmup", 0.1, 0.1),
    ("agreeing", everywhere(*CONSERT), "heads.projection", None, None),
    ("predictor", everywhere(*BSL), "heads.predictor.ratio", 8, 10),
    ("predictor", everywhere(*BSL), "heads.predictor.blocks", 1, 3),
    ("predictor", everywhere(*BSL), "heads.predictor.norm", "inner", "first"),
    ("lr", ["bsl/0"], "training.learning_rate", 5e-4, 1e-4),
    ("lr", ["bsl-post/0", "bsl-multilingual/0"], "training.learning_rate", 5e-4, 5e-5),
    ("loss", everywhere(*BSL), "objective.weight", 1.0, 4.0),
    ("momentum", ["bsl/0", "bsl-multilingual/0"], "guide.momentum", 0.999, 0.999),
    ("momentum", ["bsl-post/0"], "guide.momentum", 0.999, 0.9999),
    ("EMA: parameters only", everywhere(*BSL), "guide.buffers", True, False),
    ("EMA: no schedule", everywhere(*BSL), "guide.schedule", "constant", "constant"),
    ("target", everywhere(*BSL), "guide.dropout", False, True),
    ("weight decay", everywhere(*BSL), "training.weight_decay", 0.01, 0.0),
    ("optimiser", everywhere(*BSL), "training.optimiser", "adam", "adamw"),
    ("optimiser", everywhere(*BSL), "training.warmup", 0.1, 0.1),
    ("optimiser", everywhere(*BSL), "training.schedule", "linear", "linear"),
    ("optimiser", everywhere(*BSL), "training.clip", 1.0, 1.0),
    ("batch", ["bsl/0", "bsl-multilingual/0"], "training.batch_size", 64, 64),
    ("batch", ["bsl-post/0"], "training.batch_size", 64, 128),
    ("length", everywhere(*BSL), "training.max_length", None, 64),
    ("SimCSE: development", everywhere("simcse", "simcse-sup"), "training.eval_steps", 250, 125),
    ("SimCSE: development", everywhere("simcse", "simcse-sup"), "training.save_steps", 250, 125),
    ("SimCSE: warm-up, not stated", everywhere("simcse", "simcse-sup"), "training.warmup", 0.1, 0.0),
    ("SimCSE: decay, not stated", everywhere("simcse", "simcse-sup"), "training.weight_decay", 0.01, 0.0),
    ("SimCSE: last batch, not stated", everywhere("simcse", "simcse-sup"), "training.drop_last", True, False),
]
CASES = [(row, place, path, paper, code) for row, places, path, paper, code in ROWS for place in places]


@pytest.mark.parametrize(("row", "place", "path", "paper", "code"), CASES, ids=lambda value: str(value))
def test_a_row_of_the_comparison(row: str, place: str, path: str, paper: Any, code: Any) -> None:
    assert value(place, "paper", path) == paper
    assert value(place, "official", path) == code


@pytest.mark.parametrize("name", [name for name in recipes.names() if "official" in recipes.variants(name)])
def test_the_variants_differ_in_nothing_else(name: str) -> None:
    listed = {(place, path) for _, place, path, paper, code in CASES if paper != code and place.startswith(f"{name}/")}
    paper, code = (recipes.load(f"{name}:{variant}") for variant in ("paper", "official"))
    differing = set()
    for k, (one, other) in enumerate(zip(paper.stages, code.stages, strict=True)):
        before, after = flat(one.model_dump()), flat(other.model_dump())
        differing |= {
            (f"{name}/{k}", path) for path in before.keys() | after.keys() if before.get(path) != after.get(path)
        }
    assert differing == listed


# The text alone: paper 4 and the recipes without another reading. (recipe/stage, path, value)
STATED: list[tuple[str, str, Any]] = [
    ("parallel/0", "training.learning_rate", 2e-4),
    ("parallel/0", "objective.temperature", 1.0),
    ("parallel/0", "objective.learnable_temperature", True),
    ("parallel/0", "pooling.training", "cls-mlp"),
    ("parallel/0", "pooling.evaluation", "cls"),
    ("parallel/0", "guide.queue", 10_000),
    ("parallel/0", "guide.dropout", False),
    ("parallel/0", "training.batch_size", 400),
    ("parallel/0", "training.schedule", "cosine"),
    ("parallel:large/0", "training.learning_rate", 5e-5),
    ("parallel:large/0", "training.batch_size", 200),
    ("parallel:large/0", "guide.queue", 200_000),
    ("parallel-teacher/0", "training.learning_rate", 5e-5),
    ("parallel-teacher/0", "guide.queue", 200_000),
    ("parallel-teacher/0", "training.max_length", 50),
    ("parallel-dual/0", "guide.kind", "dual"),
    ("parallel-dual/0", "guide.queue", 0),
    ("parallel-dual/0", "training.batch_size", 128),
    ("parallel-multilingual/0", "guide.kind", "self"),
    ("parallel-multilingual/0", "training.learning_rate", 2e-4),
    ("nli-finetune/0", "training.learning_rate", 1e-5),
    ("nli-finetune/0", "training.batch_size", 128),
    ("nli-finetune:large/0", "training.batch_size", 96),
    ("nli-finetune/0", "objective.temperature", 0.05),
    ("consert:official-large/0", "views.first.kind", "none"),
    ("consert:official-large/0", "views.second.kind", "shuffle"),
    ("consert:official-large/0", "training.dropout", None),
    ("consert:official-large/0", "training.epochs", 25),
    ("consert:official-large/0", "objective.weight", 0.3),
    ("consert-joint:official-large/0", "training.max_length", 40 + 3),
    ("sg-opt:senteval/0", "guide.pooling", "mean"),
    ("simcse/0", "training.learning_rate", 3e-5),
    ("simcse/0", "training.batch_size", 64),
    ("simcse/0", "training.max_length", 32),
    ("simcse/0", "pooling.evaluation", "cls"),
    ("simcse-sup/0", "training.learning_rate", 5e-5),
    ("simcse-sup/0", "training.batch_size", 512),
    ("simcse-sup/0", "training.epochs", 3),
    ("simcse-sup/0", "pooling.evaluation", "cls-mlp"),
    ("sbert-nli/0", "training.batch_size", 16),
    ("sbert-nli/0", "training.learning_rate", 2e-5),
    ("mlm/0", "objective.masked", 0.15),
]


@pytest.mark.parametrize(("place", "path", "stated"), STATED)
def test_a_number_of_the_text(place: str, path: str, stated: Any) -> None:
    name, _, stage = place.rpartition("/")
    assert look_up(recipes.load(name).stages[int(stage)], path) == stated


def test_the_pipeline_is_its_steps_in_a_row() -> None:
    first, between, last = recipes.load("parallel-pipeline").stages
    same(first, recipes.load("parallel-teacher").stages[0], "start")
    same(between, recipes.load("nli-finetune:large").stages[0])
    same(last, recipes.load("parallel").stages[0], "start", "guide.model", "views.first.column", "views.second.column")
    assert (last.start, last.guide.model) == ("model", "previous")
    assert last.views.second.column == first.views.first.column  # what was taught is what teaches


@pytest.mark.parametrize("variant", ["paper", "official", "official-large"])
def test_joint_unsup_begins_with_joint(variant: str) -> None:
    same(recipes.load(f"consert-joint-unsup:{variant}").stages[0], recipes.load(f"consert-joint:{variant}").stages[0])


def value(place: str, variant: str, path: str) -> Any:
    name, _, stage = place.partition("/")
    return look_up(recipes.load(f"{name}:{variant}").stages[int(stage)], path)


def look_up(section: Any, path: str) -> Any:
    for key in path.split("."):
        section = getattr(section, key)
    return section


def same(one: recipes.Stage, other: recipes.Stage, *but: str) -> None:
    left, right = flat(one.model_dump()), flat(other.model_dump())
    assert {path for path in left.keys() | right.keys() if left.get(path) != right.get(path)} == set(but)


def flat(table: dict[str, Any], above: str = "") -> dict[str, Any]:
    leaves: dict[str, Any] = {}
    for key, one in table.items():
        leaves |= flat(one, f"{above}{key}.") if isinstance(one, dict) else {f"{above}{key}": one}
    return leaves
