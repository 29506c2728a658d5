"""The schema names what other parts offer; here it is held against them."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, get_args

import pytest
import torch
from pydantic import BaseModel, ValidationError

from isotrope import views
from isotrope.encoders import pooling
from isotrope.guides import frozen_layers
from isotrope.objectives import self_guided
from isotrope.recipes import schema
from isotrope.training.optimisers import OPTIMISERS
from isotrope.training.watch import PATIENCE


def choices(section: type[BaseModel], key: str) -> tuple[Any, ...]:
    return get_args(section.model_fields[key].annotation)


def test_the_names_are_those_of_the_parts() -> None:
    assert set(choices(schema.View, "kind")) == set(views.KINDS)
    assert set(schema.POOLINGS) == set(pooling.REDUCTIONS)
    assert choices(schema.Guide, "sampler") == frozen_layers.SAMPLERS


def test_the_variants_of_self_guidance_exist() -> None:
    c, h = torch.randn(4, 3), torch.randn(4, 2, 3)
    for variant in choices(schema.Objective, "variant"):
        assert self_guided(c, h if variant == "opt3" else h[:, 0], 0.1, variant).isfinite()


def test_the_views_with_a_rate_are_those_that_take_one() -> None:
    assert {kind for kind in views.KINDS if "rate" in {one.name for one in fields(views.make(kind))}} == set(
        schema.RATED
    )


def sections(section: type[BaseModel]) -> list[type[BaseModel]]:
    below: list[type[BaseModel]] = [section]
    for field in section.model_fields.values():
        for one in (field.annotation, *get_args(field.annotation)):
            if isinstance(one, type) and issubclass(one, BaseModel):
                below += sections(one)
    return below


def test_what_may_be_none_is_none_unless_said() -> None:
    """TOML has no null: only so does a recipe survive being written."""
    for section in sections(schema.Stage):
        for key, field in section.model_fields.items():
            if type(None) in get_args(field.annotation):
                assert field.default is None, f"{section.__name__}.{key}"


@pytest.mark.parametrize("name", ["mean", "cls@3", "last2@2", "cls-mlp"])
def test_poolings_by_name(name: str) -> None:
    assert schema.PoolingChoice(training=name).training == str(pooling.Pooling.parse(name))


@pytest.mark.parametrize("name", ["meen", "mean@", "mean@x", "@2", "mean@-1"])
def test_what_is_no_pooling(name: str) -> None:
    with pytest.raises(ValidationError):
        schema.PoolingChoice(training=name)


def test_the_columns_of_a_stage_are_named_once() -> None:
    stage = schema.Stage.model_validate(
        {
            "views": {
                "first": {"column": ["sentence1", "sentence2"]},
                "second": {"column": ["sentence1", "sentence2"]},
            },
            "supervision": {"kind": "nli"},
        }
    )
    assert stage.columns == ("sentence1", "sentence2", "label")


@pytest.mark.parametrize(
    ("views", "words"),
    [
        ({"contrast": "by-column"}, "tells several columns apart; views.first.column names one"),
        ({"also": [["a", "b"]]}, "adds pairs to pairs; this recipe reads text"),
        ({"also": [["a", "b"]], "second": {"column": "view1"}, "negative": "n"}, "this recipe reads text, view1, n"),
    ],
)
def test_what_means_nothing_is_refused(views: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        schema.Stage.model_validate({"views": views, "objective": {"kind": "info-nce"}})


def test_the_names_of_training_are_those_of_its_parts() -> None:
    assert set(choices(schema.Training, "optimiser")) == set(OPTIMISERS)
    assert set(choices(schema.Training, "patience_counts")) == set(PATIENCE)


def test_nothing_changes_after_it_was_read() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        schema.Training().batch_size = 3
