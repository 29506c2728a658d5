"""Pages that are made from the code have all of it; equations are drawn; links lead somewhere."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

import isotrope
from isotrope.recipes.schema import Stage, Training

from .pages import PAGES, ROOT, all_options

pytest.importorskip("mkdocs.structure", reason="needs mkdocs: pip install 'isotrope[docs]'")


@pytest.fixture
def hook(monkeypatch: pytest.MonkeyPatch) -> object:
    """The hooks by name, as mkdocs imports them: by their folder."""
    monkeypatch.syspath_prepend(ROOT / "docs" / "hooks")

    def named(name: str) -> ModuleType:
        monkeypatch.delitem(sys.modules, name, raising=False)
        return importlib.import_module(name)

    return named


def test_every_option_is_in_the_reference(hook) -> None:
    page = hook("commands").page()
    assert {option for option in all_options() if f"{option}`" not in page} == set()
    assert "## isotrope train" in page
    assert "### isotrope recipes list" in page
    assert "[dim]" not in page


def test_every_field_is_in_the_reference(hook) -> None:
    fields = hook("fields")
    page = fields.page()
    assert all(f"`{name}`" in page for name in {**Stage.model_fields, **Training.model_fields})
    assert "Share of the steps" in page  # a comment of the source
    assert "| `temperature` | number &gt; 0 |" in page
    for registry in ("nt-xent", "momentum", "shuffle", "back-translation", "crop", "smoothing", "vectors", "predictor"):
        assert f"### {registry}\n" in page
    assert not re.search(r"typing\.|<class|Annotated", page)


def test_every_public_name_is_in_the_reference(hook) -> None:
    page = hook("api").page()
    assert all(f"::: isotrope.{name}\n" in page for name in isotrope.__all__ if name != "recipes")


def test_equations_are_drawn(hook) -> None:
    pytest.importorskip("latex2mathml")
    equations, text = hook("equations"), (ROOT / "docs" / "methods.md").read_text(encoding="utf-8")
    found = re.findall(r"^```math\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    assert len(found) > 15
    for one in found:
        drawn = equations.fence(one, "math", "", {}, None)
        assert "<math" in drawn
        assert "\\" not in drawn  # a command that was not known


def test_links_that_leave_the_folder(hook) -> None:
    outside = hook("outside")
    text = "[a](../README.md) [b](../examples/papers/bsl.py) [c](results.md#x) [d](https://sbert.net)"
    assert outside.targets("index.md", text) == {
        "../README.md": "README.md",
        "../examples/papers/bsl.py": "examples/papers/bsl.py",
    }
    there = outside.rewritten("tutorials/x.md", "[a](../../README.md#idea)")
    assert there == "[a](../source/README.md#idea)"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_begins_with_its_title(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert re.match(r"(---\n.*?\n---\n)?# \w", text, re.DOTALL), text.splitlines()[0]


def test_links_in_the_repository_lead_somewhere() -> None:
    for page in PAGES:
        for link in re.findall(r"\]\(([^)\s#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            made = link.startswith(("reference/", "../reference/"))  # when the site is built
            assert made or ":" in link or (page.parent / link).exists(), f"{page.name}: {link}"


def test_nothing_comes_from_elsewhere(hook) -> None:
    mkdocs = pytest.importorskip("mkdocs.exceptions")
    build = hook("build")
    assert build.on_post_page('<a href="https://sbert.net">', None, None).startswith("<a")
    with pytest.raises(mkdocs.PluginError, match=r"cdn\.example"):
        build.on_post_page('<script src="https://cdn.example/x.js">', Path("x"), None)


def test_a_page_that_the_menu_does_not_name_is_in_it(hook, tmp_path: Path) -> None:
    for name in ("named.md", "new.md"):
        (tmp_path / name).touch()
    nav = [{"Start": "named.md"}, {"Guides": ["extending.md"]}]
    config = {"nav": nav, "docs_dir": str(tmp_path), "mdx_configs": {}}
    assert hook("build").on_config(config)["nav"][1] == {"Guides": ["extending.md", "new.md"]}
