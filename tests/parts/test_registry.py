"""The registry of parts: what it finds, what its sections hold, and what it says of mistakes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ValidationError

from isotrope.guides import GUIDES
from isotrope.heads import PREDICTORS, PROJECTIONS
from isotrope.io.errors import IsotropeError
from isotrope.objectives import OBJECTIVES
from isotrope.objectives.info_nce import InfoNCE
from isotrope.objectives.nt_xent import NTXent
from isotrope.objectives.supervision import SUPERVISION
from isotrope.parts import Registry, Spec, shared_keys
from isotrope.views.embedding import VIEWS, View
from isotrope.views.embedding.dropout import Dropout
from isotrope.views.embedding.shuffle import Shuffle
from isotrope.views.embedding.token_cutoff import TokenCutoff
from isotrope.views.text import TEXT_VIEWS

ROOMS = [VIEWS, GUIDES, OBJECTIVES, PROJECTIONS, PREDICTORS, SUPERVISION, TEXT_VIEWS]


# -- what there is -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.package)
def test_every_kind_is_found_under_its_own_name_and_explains_itself(room: Registry[Any]) -> None:
    for kind, spec in room.specs.items():
        assert spec.model_fields["kind"].default == kind
        assert spec.__doc__
        assert room.resolve(kind) is room.resolve(spec) is spec
        assert not room.is_foreign(kind)
    assert not room.default or room.default in room.kinds


@pytest.mark.parametrize("room", [room for room in ROOMS if room.default], ids=lambda room: room.package)
def test_a_kind_alone_a_table_and_a_spec_are_one(room: Registry[Any]) -> None:
    for kind in room.kinds:
        spec = room.make(kind, **({"sampler": "all"} if kind == "frozen-layers" else {}))
        assert room.read(kind) == room.read({"kind": kind}) == spec
        assert room.read(spec) is spec
        assert room.read(spec.model_dump(exclude_none=True)) == spec
    assert room.read({}) == room.make(room.default)


# -- what is wrong -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "settings", "message"),
    [
        (
            "momntum",
            {},
            "guides 'momntum': unknown kind 'momntum' (did you mean 'momentum'?); one of dual, frozen-layers, self, "
            "momentum, momentum-queue, teacher, or package.module:Name",
        ),
        (
            "zzz",
            {},
            "guides 'zzz': unknown kind 'zzz'; one of dual, frozen-layers, self, momentum, momentum-queue, teacher, or "
            "package.module:Name",
        ),
        (
            5,
            {},
            "guides '5': unknown kind '5'; one of dual, frozen-layers, self, momentum, momentum-queue, teacher, or "
            "package.module:Name",
        ),
        ("momentum", {"momentun": 1}, "guides 'momentum': momentun: no such key (did you mean 'momentum'?)"),
        ("self", {"cache": 1}, "guides 'self': cache: kind 'self' has no such key; teacher has it"),
        ("self", {"model": 1}, "guides 'self': model: kind 'self' has no such key; dual, teacher have it"),
        ("self", {"zzz": 1}, "guides 'self': zzz: no such key; kind 'self' has none"),
        ("dual", {"zzz": 1}, "guides 'dual': zzz: no such key; kind 'dual' has model, model_pooling"),
        (
            "momentum",
            {"momentum": 2},
            "guides 'momentum': momentum: Input should be less than or equal to 1",
        ),
    ],
)
def test_a_mistake_is_named_with_what_would_be_right(kind: Any, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(IsotropeError) as told:
        GUIDES.make(kind, **settings)
    assert str(told.value) == message


@pytest.mark.parametrize("kind", [["self"], ["a:b"], {"a": 1}, 3.5, True])
def test_a_kind_that_is_no_name_is_a_problem_at_that_key(kind: Any) -> None:
    with pytest.raises(ValidationError) as told:
        GUIDES.read({"kind": kind})
    assert told.value.errors()[0]["loc"] == ("kind",)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("no_such_module:thing", "'no_such_module:thing' can't be imported: No module named 'no_such_module'"),
        (":thing", "':thing' can't be imported: ValueError: Empty module name"),
        ("math:sqr", "module 'math' has no 'sqr' (did you mean 'sqrt'?)"),
        ("math:", "module 'math' has no ''"),
        ("math:pi.real.no_such", "module 'math' has no 'pi.real.no_such'"),
        ("math:pi", "math:pi can't be one of isotrope's objectives: it is no Objective"),
    ],
)
def test_what_can_not_be_imported_is_said(kind: str, message: str) -> None:
    with pytest.raises(IsotropeError) as told:
        OBJECTIVES.make(kind)
    assert str(told.value) == f"objectives '{kind}': {message}"


def test_code_that_breaks_when_it_is_imported_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_broken_part.py").write_text("1 / 0")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(IsotropeError, match="'own_broken_part:x' can't be imported: ZeroDivisionError: division by"):
        VIEWS.make("own_broken_part:x")


# -- sections ----------------------------------------------------------------------------------------------------------


def test_a_registry_stands_in_an_annotation() -> None:
    class Section(BaseModel):
        view: Annotated[View, VIEWS]
        several: dict[str, Annotated[View, VIEWS]] = {}

    read = Section.model_validate({"view": "shuffle", "several": {"a": {"kind": "dropout", "rate": 0.5}}})
    assert read.view == Shuffle()
    assert read.several == {"a": Dropout(rate=0.5)}
    dumped = read.model_dump(mode="json")
    assert dumped["several"]["a"] == Dropout(rate=0.5).model_dump(mode="json")
    assert Section.model_validate(dumped) == read
    with pytest.raises(ValidationError, match="should be a section"):
        Section.model_validate({"view": 5})


def test_nothing_changes_after_it_was_read() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        VIEWS.make("dropout").rate = 0.5  # type: ignore[attr-defined]


def test_settings_are_the_fields_of_a_kind_alone() -> None:
    assert TokenCutoff(rate=0.5).settings(View) == {
        "variant": "paper",
        "at": "embeddings",
        "rate": 0.5,
        "specials": False,
        "rounding": "nearest",
    }


def test_shared_keys_are_those_of_a_common_base() -> None:
    class Other(View):
        kind: Literal["other"] = "other"
        rate: float = 0.5  # of the same name, and yet another number

    assert shared_keys(NTXent, InfoNCE) == {
        "kind",
        "anchor",
        "weight",
        "temperature",
        "learnable_temperature",
        "temperature_rate",
    }
    assert shared_keys(TokenCutoff, Dropout) == {"kind", "column", "draw", "variant", "at"}
    assert shared_keys(TokenCutoff, Shuffle) == {"kind", "column", "draw", "variant"}
    assert shared_keys(TokenCutoff, Other) == {"kind", "column", "draw"}
    assert shared_keys(Spec, Spec) == {"kind"}
