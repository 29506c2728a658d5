"""The sections of a recipe, and the names in them that are those of other parts."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from pydantic import BaseModel, ValidationError

from isotrope.encoders import pooling
from isotrope.guides import GUIDES
from isotrope.heads import PROJECTIONS
from isotrope.objectives import OBJECTIVES
from isotrope.objectives.supervision import SUPERVISION
from isotrope.parts import Registry
from isotrope.recipes import schema
from isotrope.training.monitor import PATIENCE
from isotrope.training.optimisers import OPTIMISERS
from isotrope.views.embedding import VIEWS
from isotrope.views.text import TEXT_VIEWS

ROOMS: list[Registry[Any]] = [VIEWS, GUIDES, OBJECTIVES, PROJECTIONS, SUPERVISION, TEXT_VIEWS]


def choices(section: type[BaseModel], key: str) -> tuple[Any, ...]:
    return get_args(section.model_fields[key].annotation)


def sections(section: type[BaseModel]) -> list[type[BaseModel]]:
    below: list[type[BaseModel]] = [section]
    for field in section.model_fields.values():
        for one in (field.annotation, *get_args(field.annotation)):
            if isinstance(one, type) and issubclass(one, BaseModel):
                below += sections(one)
    return below


def test_what_may_be_none_is_none_unless_said() -> None:
    """TOML has no null: only so does a recipe survive being written."""
    parts = [spec for room in ROOMS for spec in room.specs.values()]
    for section in (*sections(schema.Stage), *parts):
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


def test_the_names_of_training_are_those_of_its_parts() -> None:
    assert set(choices(schema.Training, "optimiser")) == set(OPTIMISERS)
    assert set(choices(schema.Training, "patience_counts")) == set(PATIENCE)


def test_nothing_changes_after_it_was_read() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        schema.Training().batch_size = 3
