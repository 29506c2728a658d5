from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isotrope import recipes
from isotrope.encoders.pooling import OWN, Pooling
from isotrope.io.errors import IsotropeError
from isotrope.recipes.files import parse
from isotrope.views.embedding import VIEWS

WANTED = """
sg sg-opt1 sg-opt2 sg-opt bt bt+sg-opt
consert consert-joint consert-sup-unsup consert-joint-unsup
bsl bsl-post bsl-sbert bsl-multilingual
parallel-teacher parallel parallel-nli parallel-pipeline parallel-dual parallel-multilingual nli-finetune
simcse simcse-sup sbert-nli mlm
distil rankcse neighbours
crop esimcse mocose tsdae mlm-simcse
smooth raw
"""
ALL = [f"{name}:{variant}" for name in recipes.names() for variant in recipes.variants(name)]


def test_every_published_setting_is_there() -> None:
    assert recipes.names() == sorted(WANTED.split())


@pytest.mark.parametrize("name", ALL)
def test_a_recipe_and_its_parts_fit_together(name: str) -> None:
    recipe = recipes.load(name)
    assert f"{recipe.name}:{recipe.variant}" == name
    assert recipe.about
    assert recipe.paper
    assert recipe.section
    assert recipe.table or recipe.section == "docs/domains.md"  # those of no paper
    for stage in recipe.stages:
        for view in (stage.views.first, stage.views.second):
            assert VIEWS.read(view.model_dump()) == view
        for pooling in (stage.pooling.training, stage.pooling.evaluation):
            assert pooling == OWN or str(Pooling.parse(pooling)) == pooling
        assert stage.training.save_steps % stage.training.eval_steps == 0  # a best checkpoint must have been saved
        assert stage.columns


OF_PAPERS = [name for name in recipes.names() if not recipes.load(name).paper.startswith("isotrope's own")]


@pytest.mark.parametrize("name", OF_PAPERS)
def test_a_papers_recipe_says_how_the_rate_goes_and_what_is_clipped(name: str) -> None:
    """In the file itself, stated or not: none of it may come from a default that nobody sees."""
    said = parse(recipes.source(name), name)
    stages = [said.get("training", {}) | stage.get("training", {}) for stage in said.get("stages", [{}])]
    assert all({"warmup", "schedule", "clip"} <= stage.keys() for stage in stages)


def test_variants_begin_with_the_papers_numbers() -> None:
    assert recipes.variants("consert") == ["paper", "official", "official-large", "bundled", "quick", "gentle"]
    assert recipes.variants("consert:official") == recipes.variants("consert")
    assert recipes.load("consert") == recipes.load("consert:paper")


def test_the_overview_says_what_each_stage_reads() -> None:
    rows = {row.name: row for row in recipes.overview()}
    assert list(rows) == recipes.names()
    assert rows["simcse"].columns == (("text",),)
    assert rows["simcse-sup"].columns == (("anchor", "positive", "negative"),)
    assert rows["consert-joint-unsup"].columns == (("sentence1", "sentence2", "label"), ("text",))
    assert (rows["bsl"].columns, rows["bsl"].made) == ((("text",),), ("view1", "view2"))
    assert (rows["bt+sg-opt"].columns, rows["bt+sg-opt"].made) == ((("text",),), ("view1",))
    assert rows["sg-opt"].variants == ("paper", "official", "senteval", "bundled")


def test_a_copy_of_the_source_is_the_same_recipe(tmp_path: Path) -> None:
    for name in recipes.names():
        mine = tmp_path / f"{name}.toml"
        mine.write_text(recipes.source(name), encoding="utf-8")
        for variant in recipes.variants(name):
            assert recipes.load(f"{mine}:{variant}") == recipes.load(f"{name}:{variant}")
        assert recipes.load(mine) == recipes.load(name)


@pytest.mark.parametrize("name", ALL)
def test_what_is_written_loads_back_under_any_file_name(name: str, tmp_path: Path) -> None:
    recipe = recipes.load(name)
    written = tmp_path / "recipe.toml"
    written.write_text(recipes.to_toml(recipe), encoding="utf-8")
    assert recipes.load(written) == recipe


def test_what_is_written_spells_out_the_defaults() -> None:
    assert 'keep = "best"' in recipes.to_toml(recipes.load("bt+sg-opt"))
    assert "keep" not in recipes.source("bt+sg-opt")


SETTINGS: dict[str, st.SearchStrategy[Any]] = {
    "training.batch_size": st.integers(2, 10**6),
    "training.learning_rate": st.floats(1e-12, 1, exclude_min=True),
    "training.warmup": st.floats(0, 1).map(str),
    "training.betas": st.tuples(*[st.floats(0, 1, exclude_max=True)] * 2),
    "training.patience": st.none() | st.integers(1, 50),
    "training.dropout": st.sampled_from(["default", "0.1", 0]),
    "training.report_to": st.lists(st.sampled_from(["wandb", "tensorboard"])),
    "training.seed": st.integers(0, 2**32 - 1),
    "objective.anchor": st.floats(0, 1e300),
    "stages.0.start": st.sampled_from(["previous", "model", "some/encoder"]),
}
TEMPERATURE = {"objective.temperature": st.floats(1e-300, 1e300).map(repr)}
OF_KINDS: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "sg-opt": {
        "guide": st.lists(st.integers(0, 99), min_size=1).map(
            lambda found: {"layers": found, "first_layer": "default"}
        ),
        "heads.projection": st.integers(1, 10**5).map(lambda width: {"width": width, "ratio": "default"}),  # not both
        "training.drop_last": st.sampled_from(["true", "false", True, False]),
        **TEMPERATURE,
    },
    "parallel": {
        "guide.model": st.text("abc./é\"'\\ \t", min_size=1).map(lambda text: f"m{text}"),
        "queue.size": st.integers(0, 10**6),
        **TEMPERATURE,
    },
    "bsl": {
        "guide.momentum": st.floats(0, 1),
        "heads.predictor.blocks": st.integers(1, 9),
        "heads.projection": st.sampled_from(["linear", "projection", {"kind": "linear", "bias": False}]),
        "views.symmetric": st.booleans(),
    },
    "consert": {
        "views.first": st.floats(0, 0.99).map(lambda rate: {"kind": "token-cutoff", "rate": rate}),
        "views.second": st.sampled_from(["dropout", "none"]),
    },
}
LEARNT = [name for name in ALL if all(stage.learns for stage in recipes.load(name).stages)]  # by gradient
SET = st.sampled_from(LEARNT).flatmap(
    lambda name: st.tuples(
        st.just(name), st.fixed_dictionaries({}, optional=SETTINGS | OF_KINDS.get(name.partition(":")[0], {}))
    )
)


@given(SET)
def test_anything_set_survives_writing(
    tmp_path_factory: pytest.TempPathFactory, chosen: tuple[str, dict[str, Any]]
) -> None:
    name, settings = chosen
    recipe = recipes.load(name, set=settings)
    written = tmp_path_factory.getbasetemp() / "recipe.toml"
    written.write_text(recipes.to_toml(recipe), encoding="utf-8", newline="")
    assert recipes.load(written) == recipe


def test_settings_reach_every_stage_or_one() -> None:
    recipe = recipes.load(
        "consert-joint-unsup",
        set={"training.batch_size": 32, "objective.temperature": "0.05", "stages.1.training.learning_rate": "1e-6"},
    )
    assert [stage.training.batch_size for stage in recipe.stages] == [32, 32]
    assert [stage.objective.temperature for stage in recipe.stages] == [0.05, 0.05]
    assert [stage.training.learning_rate for stage in recipe.stages] == [5e-7, 1e-6]


def test_default_and_none_unset_a_key() -> None:
    assert recipes.load("consert").stages[0].training.dropout == 0
    for unset in ("default", None):
        stage = recipes.load("consert", set={"training.dropout": unset, "heads.projection": unset}).stages[0]
        assert stage.training.dropout is None
        assert stage.heads.projection is None


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text('[views.second]\nkind = "shuffle"\n[variants.hot]\nobjective.temperature = 2\n', encoding="utf-8")
    assert recipes.load(mine).name == "mine"
    assert recipes.load(mine).stages[0].views.second.kind == "shuffle"
    assert recipes.load(f"{mine}:hot").stages[0].objective.temperature == 2
    assert recipes.variants(mine) == ["paper", "hot"]
    assert recipes.source(mine) == mine.read_text()


@pytest.mark.parametrize("name", ["sg-opp", "sg-opp:official", "recipes/sg-opt"])
def test_an_unknown_recipe(name: str) -> None:
    with pytest.raises(IsotropeError) as caught:
        recipes.load(name)
    message = str(caught.value)
    assert "(did you mean 'sg-opt'?)" in message
    assert ", ".join(recipes.names()) in message
    assert "\n" not in message


def test_an_unknown_variant() -> None:
    with pytest.raises(
        IsotropeError,
        match=r"^recipe sg has no variant 'oficial' \(did you mean 'official'\?\); it has paper, official, bundled$",
    ):
        recipes.load("sg:oficial")


def test_a_file_that_is_not_there_or_not_text(tmp_path: Path) -> None:
    with pytest.raises(IsotropeError, match=r"mine\.toml: no such file$"):
        recipes.load(tmp_path / "mine.toml")
    (tmp_path / "mine.toml").write_bytes(b'about = "a"\npaper = "\xff"\n')
    with pytest.raises(IsotropeError, match=r"mine\.toml: line 2: not UTF-8"):
        recipes.load(tmp_path / "mine.toml")


def test_reading_recipes_loads_no_library_of_models() -> None:
    """They take seconds to import, and no recipe needs them to be checked."""
    code = """
import sys
from isotrope import recipes
recipes.overview()
heavy = {"transformers", "sentence_transformers", "datasets", "sklearn", "pandas"} & sys.modules.keys()
print(*sorted(heavy))
"""
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert found.stdout == "\n"
