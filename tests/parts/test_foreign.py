"""Other people's code as parts: by its path, given directly, or announced by an installed package."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from isotrope import recipes
from isotrope.heads import PROJECTIONS
from isotrope.io.errors import IsotropeError
from isotrope.objectives import OBJECTIVES
from isotrope.objectives.supervision import SUPERVISION
from isotrope.parts import Registry
from isotrope.views.embedding import VIEWS, View

Package = Callable[[str], str]  # the path of a name in a module of a user's own


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


# -- signatures that are no specs --------------------------------------------------------------------------------------


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
