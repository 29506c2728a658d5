from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isotrope import recipes
from isotrope.heads.linear import Linear
from isotrope.io.errors import IsotropeError
from isotrope.recipes.files import parse, read_value
from isotrope.recipes.merging import merge, resolve

TABLES = st.recursive(
    st.dictionaries(st.sampled_from("abc"), st.integers(), min_size=1),
    lambda below: st.dictionaries(st.sampled_from("abc"), st.integers() | below, min_size=1),
    max_leaves=6,
)

FILE = """
about = "below"
[training]
batch_size = 1
epochs = 1
seed = 1
keep = 1
[[stages]]
training.epochs = 2
[[stages]]
[variants.official]
about = "above"
training.seed = 3
training.epochs = 3
[[variants.official.stages]]
[[variants.official.stages]]
training.seed = 4
[variants.large]
over = "official"
training.batch_size = 5
"""


def leaves(table: dict[str, Any], above: tuple[str, ...] = ()) -> dict[tuple[str, ...], Any]:
    """Path -> value."""
    flat: dict[tuple[str, ...], Any] = {}
    for key, value in table.items():
        flat |= leaves(value, (*above, key)) if isinstance(value, dict) else {(*above, key): value}
    return flat


def naive_merge(base: dict[str, Any], over: dict[str, Any]) -> dict[tuple[str, ...], Any]:
    """Leaf by leaf: what `over` says, and of `base` what is neither at, above nor below anything that it says."""
    said = leaves(over)
    kept = {
        path: value
        for path, value in leaves(base).items()
        if not any(path[: len(other)] == other[: len(path)] for other in said)
    }
    return kept | said


@given(TABLES, TABLES)
def test_merge_is_the_naive_merge(base: dict[str, Any], over: dict[str, Any]) -> None:
    before = leaves(base)
    assert leaves(merge(base, over)) == naive_merge(base, over)
    assert leaves(base) == before  # the file itself is not touched


@pytest.mark.parametrize(
    ("variant", "first", "second"),
    [
        (
            "paper",
            {"batch_size": 1, "epochs": 2, "seed": 1, "keep": 1},
            {"batch_size": 1, "epochs": 1, "seed": 1, "keep": 1},
        ),
        (
            "official",
            {"batch_size": 1, "epochs": 3, "seed": 3, "keep": 1},
            {"batch_size": 1, "epochs": 3, "seed": 4, "keep": 1},
        ),
        (
            "large",
            {"batch_size": 5, "epochs": 3, "seed": 3, "keep": 1},
            {"batch_size": 5, "epochs": 3, "seed": 4, "keep": 1},
        ),
    ],
)
def test_sections_then_stages_then_variants(variant: str, first: dict[str, int], second: dict[str, int]) -> None:
    resolved = resolve(parse(FILE, "f"), variant, {}, "f")
    assert [stage["training"] for stage in resolved["stages"]] == [first, second]
    assert resolved["about"] == ("below" if variant == "paper" else "above")


def test_settings_win() -> None:
    settings = {"training.seed": 8, "stages.0.training.seed": 9}
    resolved = resolve(parse(FILE, "f"), "large", settings, "f")
    assert [stage["training"]["seed"] for stage in resolved["stages"]] == [9, 8]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.05", 0.05),
        ("5e-5", 5e-5),
        ("64", 64),
        ("true", True),
        ('["a", "b"]', ["a", "b"]),
        ("{ kind = 'shuffle' }", {"kind": "shuffle"}),
        ('"64"', "64"),
        ("cls", "cls"),
        ("None", "None"),
        ("", ""),
        ("my model", "my model"),
        ("2024-05-01", "2024-05-01"),
        ("1\nother = 2", "1\nother = 2"),
        (64, 64),
        (None, None),
    ],
)
def test_a_setting_is_read_as_toml_where_it_is_toml(text: Any, value: Any) -> None:
    read = read_value(text)
    assert (read, type(read)) == (value, type(value))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a = 1\nb = \n", r"^f: line 2: Invalid value"),
        ("a = 1\na = 2\n", r"^f: line 2: Cannot overwrite a value"),
        ("a = 1\n\nb = [1,\n", r"^f: line 3: "),
    ],
)
def test_a_syntax_error_has_its_line(text: str, message: str) -> None:
    with pytest.raises(IsotropeError, match=message) as caught:
        parse(text, "f")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "variant", "message"),
    [
        ("stages = 3", "paper", r"^f: stages are sections"),
        ("[stages]\ntraining.seed = 1", "paper", r"^f: stages are sections"),
        ("variants = 3", "official", r"^f: variants are sections"),
        ("[variants]\nofficial = 3", "official", r"^f: variants are sections"),
        ("[variants.paper]", "official", r"^f: variants\.paper: .* choose a name$"),
        ("[variants.a]", "b", r"^f has no variant 'b'; it has paper, a$"),
        (
            "[variants.a]\nover = 'b'\n[variants.b]",
            "a",
            r"^f: variants\.a\.over: one of those above it, paper; not 'b'$",
        ),
        ("[variants.a]\nover = 'a'", "a", r"^f: variants\.a\.over: one of those above it, paper; not 'a'$"),
        (
            "[variants.a]\n[[variants.a.stages]]\n[[variants.a.stages]]",
            "a",
            r"^f: variant 'a' has 2 stages, the recipe 1$",
        ),
    ],
)
def test_a_file_of_the_wrong_shape(text: str, variant: str, message: str) -> None:
    with pytest.raises(IsotropeError, match=message):
        resolve(parse(text, "f"), variant, {}, "f")


@pytest.mark.parametrize("path", ["stages", "stages.0", "stages.1.training.seed", "stages.last.training.seed"])
def test_a_stage_that_is_not_there(path: str) -> None:
    with pytest.raises(IsotropeError, match=rf"^f: {path}: the stages are stages\.0; a path is stages\.0\.training"):
        resolve({}, "paper", {path: 1}, "f")


# -- a change of kind --------------------------------------------------------------------------------------------------


def part(settings: dict[str, Any], room: str = "objective", recipe: str = "sg-opt") -> dict[str, Any]:
    """What stands in one place of a stage, before it is checked."""
    resolved = resolve(parse(recipes.source(recipe), "f"), "paper", settings, "f")
    return dict(resolved["stages"][0][room])


def test_another_kind_leaves_the_old_ones_keys_behind_and_keeps_common_ones() -> None:
    assert part({}) == {"kind": "self-guided", "variant": "opt3", "temperature": 0.01, "anchor": 0.1}
    assert part({"objective.kind": "info-nce"}) == {"kind": "info-nce", "temperature": 0.01, "anchor": 0.1}
    assert part({"objective.kind": "bootstrap"}) == {"kind": "bootstrap", "anchor": 0.1}
    assert part({"objective.kind": "self-guided"}) == part({})
    assert part({"guide.kind": "momentum"}, "guide") == {"kind": "momentum"}
    assert part({"guide.kind": "default"}, "guide") == {"kind": "default"}


def test_a_view_keeps_its_column_and_a_text_view_its_seed() -> None:
    file = """
    [views.first]
    kind = "token-cutoff"
    rate = 0.3
    at = "embeddings"
    column = "title"
    [views.texts]
    one = { kind = "back-translation", pivot = "de" }
    [variants.dropout]
    views.first.kind = "dropout"
    [variants.shuffle]
    views.first.kind = "shuffle"
    views.first.specials = true
    views.texts.one.kind = "synonyms"
    """
    for variant, view, text in (
        (
            "paper",
            {"kind": "token-cutoff", "rate": 0.3, "at": "embeddings", "column": "title"},
            {"kind": "back-translation", "pivot": "de"},
        ),
        (
            "dropout",
            {"kind": "dropout", "at": "embeddings", "column": "title"},
            {"kind": "back-translation", "pivot": "de"},
        ),
        ("shuffle", {"kind": "shuffle", "column": "title", "specials": True}, {"kind": "synonyms"}),
    ):
        views = resolve(parse(file, "f"), variant, {}, "f")["stages"][0]["views"]
        assert (views["first"], views["texts"]["one"]) == (view, text)


@pytest.mark.parametrize("kind", ["objective.kind", "objective"])
def test_the_order_of_settings_is_no_matter(kind: str) -> None:
    settings = {kind: "info-nce", "objective.temperature": 0.2, "objective.learnable_temperature": True}
    wanted = {"kind": "info-nce", "temperature": 0.2, "learnable_temperature": True, "anchor": 0.1}
    for order in permutations(settings.items()):
        assert part(dict(order)) == wanted
        loaded = recipes.load("sg-opt", {"guide.kind": "self", **dict(order)}).stages[0].objective
        assert loaded.model_dump(exclude_defaults=True) == {
            "temperature": 0.2,
            "learnable_temperature": True,
            "anchor": 0.1,
        }


def test_a_key_that_the_new_kind_does_not_have_is_no_leftover_but_a_mistake() -> None:
    for settings in (
        {"objective.kind": "info-nce", "objective.variant": "opt1"},
        {"objective.variant": "opt1", "objective.kind": "info-nce"},
    ):
        with pytest.raises(
            IsotropeError, match=r"objective\.variant: kind 'info-nce' has no such key; self-guided has it"
        ):
            recipes.load("sg-opt", settings)


def test_a_kind_alone_is_a_table_with_that_kind() -> None:
    assert part({"objective": "info-nce"}) == part({"objective.kind": "info-nce"})
    short = parse('guide = "momentum"\n[variants.slow]\nguide.momentum = 0.5\n', "f")
    assert resolve(short, "slow", {}, "f")["stages"][0]["guide"] == {"kind": "momentum", "momentum": 0.5}
    assert resolve(short, "slow", {"guide": "default"}, "f")["stages"][0]["guide"] == "default"


def test_default_as_a_kind_is_the_kind_that_stands_unless_said() -> None:
    stage = recipes.load("bsl", {"guide.kind": "default", "heads.predictor.kind": "default"}).stages[0]
    assert stage.guide.kind == "self"
    assert stage.heads.predictor.kind == "predictor"


def test_an_unknown_kind_is_told_with_all_its_keys_in_place() -> None:
    with pytest.raises(
        IsotropeError, match=r"^recipe sg-opt: objective\.kind: unknown kind 'info-nec' \(did you mean 'info-nce'"
    ):
        recipes.load("sg-opt", {"objective.kind": "info-nec"})


def test_heads_are_parts_too() -> None:
    heads = recipes.load("sg-opt", {"heads.projection.kind": "linear"}).stages[0].heads
    assert heads.projection == Linear()
    heads = recipes.load("bsl", {"heads.predictor": {"kind": "linear", "bias": False}}).stages[0].heads
    assert heads.predictor == Linear(bias=False)
