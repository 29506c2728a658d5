from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from isotrope import recipes

Run = Callable[..., Any]


def test_the_list_has_every_recipe_and_what_it_needs(run: Run) -> None:
    done = run("recipes", "list")
    assert done.code == 0
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in done.out.splitlines() if line.startswith("│")]
    assert [row[0] for row in rows] == recipes.names()
    found = {row[0]: row[1:] for row in rows}
    about, columns, variants, paper = found["bt+sg-opt"]
    assert about == recipes.load("bt+sg-opt").about
    assert (columns, paper) == ("text (view1 is made from it)", "Kim, Yoo & Lee 2021")
    assert variants.split(", ") == recipes.variants("bt+sg-opt")
    assert found["consert-joint-unsup"][1] == "sentence1, sentence2, label; then text"
    assert all(row[1] and row[2] for row in rows)


@pytest.mark.parametrize("name", ["sg-opt", "simcse:official", "consert-joint-unsup"])
def test_what_is_shown_is_the_recipe(run: Run, name: str) -> None:
    Path("shown.toml").write_text(run("recipes", "show", name).out)
    assert recipes.load("shown.toml") == recipes.load(name)
    assert run("recipes", "show", name, "--source").out.strip() == recipes.source(name).strip()


def test_a_copy_is_the_source_and_can_be_changed(run: Run) -> None:
    done = run("recipes", "copy", "sg-opt:official", "mine.toml")
    assert (done.code, done.out) == (0, "mine.toml: use it with isotrope train CORPUS --recipe mine.toml:official\n")
    assert Path("mine.toml").read_text() == recipes.source("sg-opt")
    Path("mine.toml").write_text(recipes.source("sg-opt").replace("temperature = 0.01", "temperature = 0.5"))
    assert recipes.load("mine.toml:official").stages[0].objective.temperature == 0.5
    done = run("recipes", "copy", "simcse", "mine.toml")
    assert (done.code, done.err) == (2, "Error: mine.toml: exists already; give --force to overwrite it\n")
    assert run("recipes", "copy", "simcse", "mine.toml", "--force").code == 0
    assert Path("mine.toml").read_text() == recipes.source("simcse")


def test_check_looks_at_every_variant_of_every_file(run: Run) -> None:
    Path("good.toml").write_text(recipes.source("sg-opt"))
    Path("bad.toml").write_text("[variants.other]\ntraining.batchsize = 4\n")
    Path("odd.toml").write_text("[objective]\nkind = 3\n")
    done = run("recipes", "check", "good.toml")
    assert (done.code, done.out) == (0, "good.toml: fine (paper, official, senteval, bundled)\n")
    done = run("recipes", "check", "bad.toml", "good.toml", "odd.toml")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "good.toml: fine" in done.out
    assert "bad.toml:other: training.batchsize: no such key (did you mean 'batch_size'?)" in done.err
    assert "odd.toml:paper: objective.kind: unknown kind '3'; one of bootstrap, " in done.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("show", "sg-otp"), "unknown recipe 'sg-otp' (did you mean 'sg-opt'?)"),
        (("show", "sg-opt:offical", "--source"), "has no variant 'offical' (did you mean 'official'?)"),
        (("copy", "sg-otp", "x.toml"), "unknown recipe 'sg-otp'"),
        (("copy", "sg-opt", "x.txt"), "x.txt: the output's name must end in .toml"),
        (("copy", "sg-opt", "none/x.toml"), "there is no folder 'none'"),
        (("check", "none.toml"), "none.toml: no such file"),
        (("shwo",), "No such command 'shwo'"),
    ],
)
def test_mistakes_are_one_line_and_nothing_is_written(run: Run, arguments: tuple[str, ...], message: str) -> None:
    done = run("recipes", *arguments)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert message in done.err
    assert not list(Path().iterdir())


def test_without_a_command_it_shows_what_there_is(run: Run) -> None:
    done = run("recipes")
    assert done.code == 0
    assert all(verb in done.out for verb in ("list", "show", "copy", "check"))


@pytest.mark.parametrize("toml", ['[objective]\nkind = "spy.inner:seen"', 'objective = "spy:seen"'])
@pytest.mark.parametrize(
    "command",
    [
        ("train", "text.txt", "-o", "run", "-r"),
        ("recipes", "show"),
        ("recipes", "check"),
        ("tune", "text.txt", "-o", "run", "--candidates"),
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_code_that_a_file_names_is_imported_only_if_that_is_allowed(
    run: Run, monkeypatch: pytest.MonkeyPatch, toml: str, command: tuple[str, ...]
) -> None:
    monkeypatch.syspath_prepend(".")
    for name in ("spy", "spy.inner"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    Path("spy").mkdir()
    Path("spy/__init__.py").write_text("open('imported', 'w').close()\n")
    Path("text.txt").write_text("A dog.\nA cat.\n")
    Path("mine.toml").write_text(toml)
    done = run(*command, "mine.toml")
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert "Error: mine.toml imports code: spy" in done.err
    assert "spy/__init__.py); if you trust it, give --allow-code" in done.err
    assert not Path("imported").exists()
    assert not Path("run").exists()
    assert run(*command, "mine.toml", "--allow-code").code == 2  # there is no `seen` in it
    assert Path("imported").exists()


def test_none_of_isotropes_own_recipes_names_code() -> None:
    assert [name for name in recipes.names() if recipes.foreign_code(name)] == []
