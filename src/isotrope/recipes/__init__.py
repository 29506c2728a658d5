"""The papers as TOML: one file for each published setting, with the text's numbers and the published code's.

Where a paper leaves a number open, the default of `schema` stands, unless a comment in the file says whose it is.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from isotrope.recipes.code import check_code, foreign_code
from isotrope.recipes.files import check_name, names, reads_text_alone, source, variants

if TYPE_CHECKING:
    from isotrope.recipes.library import Row, load, overview, to_toml
    from isotrope.recipes.schema import Recipe, Stage

__all__ = [
    "Recipe",
    "Row",
    "Stage",
    "check_code",
    "check_name",
    "foreign_code",
    "load",
    "names",
    "overview",
    "reads_text_alone",
    "source",
    "to_toml",
    "variants",
]
_SCHEMA = ("Recipe", "Stage")  # the rest is in `library`


def __getattr__(name: str) -> Any:
    """Parts are loaded, and torch with them, when a recipe is first read for what it means."""
    if name in __all__:
        return getattr(importlib.import_module(f"isotrope.recipes.{'schema' if name in _SCHEMA else 'library'}"), name)
    raise AttributeError(f"module 'isotrope.recipes' has no attribute '{name}'")
