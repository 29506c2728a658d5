"""The comparison as a whole: each row has a test, and where no row says so the two variants do not differ."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

from isotrope import recipes

from . import test_bsl, test_consert, test_consert_views, test_parallel, test_sg
from .reading import Row, cases, everywhere, flat, slug, value

PAPERS: list[ModuleType] = [test_sg, test_consert, test_bsl, test_parallel]

# SimCSE is not of the four; its published script is a variant all the same
SIMCSE: list[Row] = [
    ("development", everywhere("simcse", "simcse-sup"), "training.eval_steps", 250, 125),
    ("development", everywhere("simcse", "simcse-sup"), "training.save_steps", 250, 125),
    ("warm-up, not stated", everywhere("simcse", "simcse-sup"), "training.warmup", 0.1, 0.0),
    ("decay, not stated", everywhere("simcse", "simcse-sup"), "training.weight_decay", 0.01, 0.0),
    ("last batch, not stated", everywhere("simcse", "simcse-sup"), "training.drop_last", True, False),
]
CASES = [*cases(test_sg.ROWS), *cases(test_consert.ROWS), *cases(test_bsl.ROWS), *cases(SIMCSE)]

# Recipes and variants that have no other reading. (recipe/stage, variant, path, value)
STATED: list[tuple[str, str, str, Any]] = [
    ("parallel/0", "paper", "training.batch_size", 400),
    ("parallel/0", "paper", "training.schedule", "cosine"),
    ("parallel/0", "large", "training.batch_size", 200),
    ("parallel-teacher/0", "paper", "training.max_length", 50),
    ("parallel-dual/0", "paper", "guide.kind", "dual"),
    ("parallel-dual/0", "paper", "training.batch_size", 128),
    ("parallel-multilingual/0", "paper", "guide.kind", "self"),
    ("nli-finetune/0", "paper", "training.learning_rate", 1e-5),
    ("nli-finetune/0", "paper", "training.batch_size", 128),
    ("nli-finetune/0", "large", "training.batch_size", 96),
    ("nli-finetune/0", "paper", "objective.temperature", 0.05),
    ("sg-opt/0", "senteval", "guide.pooling", "mean"),
    ("simcse/0", "paper", "training.learning_rate", 3e-5),
    ("simcse/0", "paper", "training.batch_size", 64),
    ("simcse/0", "paper", "training.max_length", 32),
    ("simcse/0", "paper", "pooling.evaluation", "cls"),
    ("simcse-sup/0", "paper", "training.learning_rate", 5e-5),
    ("simcse-sup/0", "paper", "training.batch_size", 512),
    ("simcse-sup/0", "paper", "training.epochs", 3),
    ("simcse-sup/0", "paper", "pooling.evaluation", "cls-mlp"),
    ("sbert-nli/0", "paper", "training.batch_size", 16),
    ("sbert-nli/0", "paper", "training.learning_rate", 2e-5),
    ("mlm/0", "paper", "objective.masked", 0.15),
    ("consert/0", "bundled", "training.optimiser", "adamw"),  # what its numbers were chosen with
]


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.__name__.rpartition("_")[2])
def test_every_row_of_a_table_has_a_test(paper: ModuleType) -> None:
    """A test that begins with its name, or numbers under it."""
    numbers = {row[0] for row in paper.ROWS}
    modules = [paper, test_consert_views] if paper is test_consert else [paper]
    tests = [name for module in modules for name in vars(module) if name.startswith("test_")]
    assert [row for row in paper.TABLE if row not in numbers and not any(t.startswith(slug(row)) for t in tests)] == []


@pytest.mark.parametrize(("row", "place", "path", "paper", "code"), cases(SIMCSE), ids=str)
def test_numbers_of_simcse(row: str, place: str, path: str, paper: Any, code: Any) -> None:
    assert value(place, path, "paper") == paper
    assert value(place, path, "official") == code


@pytest.mark.parametrize("name", [name for name in recipes.names() if "official" in recipes.variants(name)])
def test_the_variants_differ_in_nothing_else(name: str) -> None:
    listed = {(place, path) for _, place, path, paper, code in CASES if paper != code and place.startswith(f"{name}/")}
    paper, code = (recipes.load(f"{name}:{variant}") for variant in ("paper", "official"))
    differing = set()
    for k, (one, other) in enumerate(zip(paper.stages, code.stages, strict=True)):
        differing |= {(f"{name}/{k}", path) for path in differences(one, other)}
    assert differing == listed


@pytest.mark.parametrize(("place", "variant", "path", "stated"), STATED)
def test_a_number_of_the_text(place: str, variant: str, path: str, stated: Any) -> None:
    assert value(place, path, variant) == stated


def test_the_pipeline_is_its_steps_in_a_row() -> None:
    first, between, last = recipes.load("parallel-pipeline").stages
    assert differences(first, recipes.load("parallel-teacher").stages[0]) == {"start", "pooling.keep_mlp"}
    assert differences(between, recipes.load("nli-finetune:large").stages[0]) == set()
    own = {"start", "guide.model", "views.first.column", "views.second.column"}
    assert differences(last, recipes.load("parallel").stages[0]) == own
    assert (last.start, last.guide.model) == ("model", "previous")
    assert last.views.second.column == first.views.first.column  # what was taught is what teaches


@pytest.mark.parametrize("variant", ["paper", "official", "official-large"])
def test_joint_unsup_begins_with_joint(variant: str) -> None:
    first, joint = (recipes.load(f"{name}:{variant}").stages[0] for name in ("consert-joint-unsup", "consert-joint"))
    assert differences(first, joint) == set()


def differences(one: recipes.Stage, other: recipes.Stage) -> set[str]:
    left, right = flat(one.model_dump()), flat(other.model_dump())
    return {path for path in left.keys() | right.keys() if left.get(path) != right.get(path)}


def test_the_best_rows_of_paper_4_are_step_b_and_the_fine_tuning_in_a_row() -> None:
    for variant in ("paper", "large"):
        first, last = recipes.load(f"parallel-nli:{variant}").stages
        assert differences(first, recipes.load(f"parallel:{variant}").stages[0]) == {"pooling.keep_mlp"}
        assert differences(last, recipes.load(f"nli-finetune:{variant}").stages[0]) == set()


def test_bsl_sbert_is_sbert_and_the_bootstrap_in_a_row() -> None:
    first, last = recipes.load("bsl-sbert").stages
    assert differences(first, recipes.load("sbert-nli").stages[0]) == set()
    assert differences(last, recipes.load("bsl-post").stages[0]) == set()
