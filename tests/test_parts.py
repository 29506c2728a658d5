"""The registry of parts: what it finds, what it makes of other people's code, and what it says of mistakes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
import torch
from pydantic import BaseModel, ValidationError
from torch import Tensor

from isotrope import recipes
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

SOURCE = '''
from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from isotrope.objectives.base import Weighted
from isotrope.views.embedding.base import AtLayer

if TYPE_CHECKING:  # what isotrope gives need not be importable
    from somewhere import Batch, Tensor

NUMBER = 3


class Noise(AtLayer):
    """Gaussian noise."""

    kind: Literal["noise"] = "noise"
    std: float = 0.1

    def __call__(self, embeddings: Tensor, batch: Batch) -> Tensor:
        return embeddings + self.std


def noise(embeddings: Tensor, batch: Batch, *, std: float = 0.1, sign: Literal[1, -1] = 1) -> Tensor:
    """Adds a constant."""
    return embeddings + sign * std


def margin(c: Tensor, h: Tensor, *, margin: float) -> Tensor:
    return (margin - (c * h).sum(-1)).mean()


def greedy(c: Tensor, h: Tensor, *, queue: Tensor | None, hard: Tensor | None, scale: float = 1.0) -> Tensor:
    return scale * (c - h).square().mean()


class Halved:
    def __init__(self, dim: int, out: int, *, times: int = 1) -> None:
        self.widths = dim, out, times


def taken(c, h, *, anchor: float = 1.0):
    return c


def shadows(c, h, *, takes_negatives: bool = True):
    return c


def unknown(c, h, *, number: Fraction = 1):
    return c


def strange(c, h, *, batch: object() = 1):
    return c
'''
Package = Callable[[str], str]
ROOMS = [VIEWS, GUIDES, OBJECTIVES, PROJECTIONS, PREDICTORS, SUPERVISION, TEXT_VIEWS]


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Package:
    """`module:name` in a module of a user's own; each test has another one."""
    name = f"own_parts_{abs(hash(tmp_path))}"
    (tmp_path / f"{name}.py").write_text(SOURCE)
    monkeypatch.syspath_prepend(tmp_path)
    return lambda thing: f"{name}:{thing}"


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
            "momentum, teacher, or package.module:Name",
        ),
        (
            "zzz",
            {},
            "guides 'zzz': unknown kind 'zzz'; one of dual, frozen-layers, self, momentum, teacher, or "
            "package.module:Name",
        ),
        (
            5,
            {},
            "guides '5': unknown kind '5'; one of dual, frozen-layers, self, momentum, teacher, or package.module:Name",
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


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("taken", "isotrope itself uses the name 'anchor': give the argument another one"),
        ("shadows", "isotrope itself uses the name 'takes_negatives': give the argument another one"),
        ("unknown", "its keyword-only arguments can't be read from TOML: name 'Fraction' is not defined"),
        ("strange", "its keyword-only arguments can't be read from TOML: "),
    ],
)
def test_a_signature_that_can_not_be_a_spec_is_refused_in_one_line(own: Package, name: str, message: str) -> None:
    with pytest.raises(IsotropeError) as told:
        OBJECTIVES.make(own(name))
    assert f"'{own(name)}': {message}" in str(told.value)
    assert "\n" not in str(told.value)


def test_supervision_takes_specs_only(own: Package) -> None:
    with pytest.raises(IsotropeError, match="can't be one of isotrope's supervision: it is no Supervision"):
        SUPERVISION.make(own("noise"))


# -- code of somebody else's -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["noise", "Noise"])
def test_a_function_and_a_spec_are_parts_by_their_path(own: Package, name: str) -> None:
    view = VIEWS.make(own(name), std=2, column="title")
    assert isinstance(view, View)
    assert (view.kind, view.column, view.places) == (own(name), "title", ("word",))
    assert torch.equal(view(torch.zeros(1, 2, 3), None), torch.full((1, 2, 3), 2.0))
    assert VIEWS.is_foreign(view.kind)
    thing = getattr(sys.modules[own(name).partition(":")[0]], name)
    assert VIEWS.make(thing, std=2, column="title") == view  # given directly it is as good as its path
    assert type(view).__module__ == thing.__module__
    assert type(view).__doc__ == thing.__doc__


def test_types_defaults_and_missing_values_are_those_of_the_signature(own: Package) -> None:
    assert VIEWS.make(own("noise")).chosen == {"std": 0.1, "sign": 1}
    assert VIEWS.make(own("noise"), std="2").chosen == {"std": 2.0, "sign": 1}
    for settings, message in (
        ({"std": "much"}, "std: Input should be a valid number"),
        ({"sign": 0}, "sign: Input should be 1 or -1"),
        ({"stdd": 1}, r"stdd: no such key \(did you mean 'std'\?\)"),
    ):
        with pytest.raises(IsotropeError, match=message):
            VIEWS.make(own("noise"), **settings)
    with pytest.raises(IsotropeError, match="margin: Field required"):
        OBJECTIVES.make(own("margin"))


def test_what_isotrope_supplies_is_no_key(own: Package) -> None:
    greedy, margin = OBJECTIVES.make(own("greedy"), scale=3), OBJECTIVES.make(own("margin"), margin=1)
    assert greedy.chosen == {"scale": 3.0}
    assert greedy.takes_negatives
    assert not margin.takes_negatives
    c, h = torch.ones(2, 3), torch.zeros(2, 3)
    assert float(greedy(c, h, None, queue=None, hard=None)) == 3
    assert float(margin(c, h, None, queue=None, hard=None)) == 1
    with pytest.raises(IsotropeError, match=r"queue: no such key; kind .* has anchor, weight, scale"):
        OBJECTIVES.make(own("greedy"), queue=3)


def test_the_keyword_only_arguments_of_a_class_are_its_spec(own: Package) -> None:
    made: Any = PROJECTIONS.make(own("Halved"), times=4).build(8, 2, 0.02)
    assert made.widths == (8, 2, 4)


def test_two_functions_of_one_name_are_two_parts() -> None:
    def scaled(by: float) -> Any:
        def scale(embeddings: Tensor, batch: Any, *, offset: float = 0.0) -> Tensor:
            return embeddings * by + offset

        return scale

    once, twice = VIEWS.make(scaled(1)), VIEWS.make(scaled(2))
    assert float(once(torch.ones(1), None)) == 1
    assert float(twice(torch.ones(1), None)) == 2


@pytest.mark.parametrize("name", ["noise", "Noise"])
def test_a_recipe_with_foreign_code_survives_writing(own: Package, name: str, tmp_path: Path) -> None:
    recipe = recipes.load("consert", {"views.first": {"kind": own(name), "std": 0.25}, "views.first.at": "embeddings"})
    written = tmp_path / "recipe.toml"
    written.write_text(recipes.to_toml(recipe))
    assert f'kind = "{own(name)}"' in written.read_text()
    again = recipes.load(written)
    assert again == recipe
    assert again.stages[0].views.first.std == 0.25
    assert again.stages[0].views.first.places == ("embeddings",)


# -- what installed packages announce ----------------------------------------------------------------------------------


@pytest.fixture
def installed(own: Package, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Registry[Any]:
    """Views as they are found when a package that announces some is installed."""
    folder = tmp_path / "own_parts-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: own-parts\nVersion: 1.0\n")
    points = f"gauss = {own('Noise')}\nconstant = {own('noise')}\nshuffle = {own('noise')}\n"
    (folder / "entry_points.txt").write_text(f"[isotrope.views]\n{points}\n[isotrope.guides]\ntheirs = x:y\n")
    return Registry("views", VIEWS.package, View, called=VIEWS.called, default="none")


def test_entry_points_are_kinds(installed: Registry[Any]) -> None:
    assert set(installed.kinds) == {*VIEWS.kinds, "gauss", "constant"}
    for kind in ("gauss", "constant"):
        view = installed.make(kind, std=0.5)
        assert view.kind == kind
        assert float(view(torch.zeros(1), None)) == 0.5
        assert installed.read(view.model_dump()) == view
        assert installed.is_foreign(kind)
    with pytest.raises(IsotropeError, match=r"unknown kind 'gaus' \(did you mean 'gauss'\?\)"):
        installed.make("gaus")
    with pytest.raises(IsotropeError, match="std: kind 'shuffle' has no such key; gauss, constant have it"):
        installed.make("shuffle", std=1)  # an entry point can't take the name of isotrope's own


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
        "at": "word",
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
    }
    assert shared_keys(TokenCutoff, Dropout) == {"kind", "column", "variant", "at"}
    assert shared_keys(TokenCutoff, Shuffle) == {"kind", "column", "variant"}
    assert shared_keys(TokenCutoff, Other) == {"kind", "column"}
    assert shared_keys(Spec, Spec) == {"kind"}
