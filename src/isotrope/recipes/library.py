"""Recipes by name, `sg-opt` or `sg-opt:official`, and a user's own by path, `mine.toml` or `mine.toml:variant`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import tomli_w
from pydantic import ValidationError

from isotrope.io.errors import IsotropeError
from isotrope.recipes.files import SUFFIX, check_depth, names, read, shown_name, split_name, variants
from isotrope.recipes.merging import resolve
from isotrope.recipes.messages import in_words
from isotrope.recipes.schema import Recipe


class Row(NamedTuple):
    """A recipe in the overview; `columns` are those that the text of each stage must have, `made` those made of it."""

    name: str
    about: str
    columns: tuple[tuple[str, ...], ...]
    made: tuple[str, ...]
    variants: tuple[str, ...]
    paper: str
    section: str
    table: str


def load(
    recipe: str | Path | Recipe | Mapping[str, Any],
    set: Mapping[str, Any] | None = None,  # noqa: A002
) -> Recipe:
    """A recipe, checked.

    Args:
        recipe: a name, `name:variant`, a TOML file, a table as TOML would give it, or a `Recipe`.
        set: overrides by dotted path, `training.batch_size` in all stages, `stages.0....` in one. Values that are
            strings are read as TOML, so `"0.05"` is a number; what is no TOML stands as it is. The value `default`
            unsets a key. The kind of a part may be a class or function of your own.

    Example:
        >>> from isotrope import recipes
        >>> recipes.load("simcse", set={"objective.temperature": 0.1}).stages[0].objective.temperature
        0.1
    """
    if isinstance(recipe, Recipe):
        return recipe if not set else load(_as_table(recipe), set)
    if isinstance(recipe, Mapping):
        document, variant, where = dict(recipe), None, str(recipe.get("name", "mine"))
        check_depth(document, where)
    else:
        where, variant = split_name(recipe)
        document = read(where)
    values = resolve(document, variant or "paper", set or {}, shown_name(where))
    values.setdefault("name", Path(where).stem if where.endswith(SUFFIX) else where)
    if variant:
        values["variant"] = variant
    try:
        return Recipe.model_validate(values)
    except ValidationError as error:
        shown = shown_name(f"{where}:{variant}" if variant else where)
        raise IsotropeError(f"{shown}: {in_words(error, len(values['stages']))}") from error


def to_toml(recipe: Recipe) -> str:
    """Every number spelt out, defaults too, so that it means the same in later versions. `load` gives it back."""
    return tomli_w.dumps(_as_table(recipe))


def overview() -> list[Row]:
    """A row for each recipe."""
    return [_row(load(name)) for name in names()]


def _row(recipe: Recipe) -> Row:
    made = tuple(dict.fromkeys(column for stage in recipe.stages for column in stage.made_columns))
    columns = tuple(
        tuple(dict.fromkeys("text" if column in stage.made_columns else column for column in stage.columns))
        for stage in recipe.stages
    )
    about = (recipe.paper, recipe.section, recipe.table)
    return Row(recipe.name, recipe.about, columns, made, tuple(variants(recipe.name)), *about)


def _as_table(recipe: Recipe) -> dict[str, Any]:
    about = recipe.model_dump(exclude={"stages"})
    stages = [_tidy(stage.model_dump(exclude_none=True)) for stage in recipe.stages]
    return about | (stages[0] if len(stages) == 1 else {"stages": stages})


def _tidy(values: dict[str, Any]) -> dict[str, Any]:
    """Empty tables left out; they would only be headings."""
    return {key: _tidy(value) if isinstance(value, dict) else value for key, value in values.items() if value != {}}
