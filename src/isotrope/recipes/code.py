"""Code that a recipe's file has Python import: which it is, without importing any of it.

A recipe may come from anybody, and a kind such as `package.module:Name` runs whatever the module does when it is
imported. What is typed on the command line or written in a script is the person's own; what stands in a file is asked
about first. Imports no torch.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from isotrope.io.errors import IsotropeError
from isotrope.recipes.files import read, split_name

WORDS = ("name", "variant", "about", "paper", "section", "table")  # text for people, in which a colon is just that


def check_code(name: str | Path) -> None:
    """Refuses a recipe that has Python import anything."""
    if found := foreign_code(name):
        raise IsotropeError(
            f"{split_name(name)[0]} imports code: {', '.join(found)}; if you trust it, give allow_code=True",
            argument="allow_code=True",
        )


def foreign_code(name: str | Path) -> list[str]:
    """What a recipe's file, with all its variants, has Python import: `package.module:Name`, and where that lies."""
    where, _ = split_name(name)
    paths = sorted({text for text in _texts(read(where)) if _names_a_module(text)})
    return [f"{path} ({_location(path)})" for path in paths]


def _texts(value: Any) -> Iterator[str]:
    """Every text in nested tables that is not for people only."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (text for key, inner in value.items() if key not in WORDS for text in _texts(inner))
    elif isinstance(value, list):
        yield from (text for inner in value for text in _texts(inner))


def _names_a_module(text: str) -> bool:
    module, colon, _ = text.partition(":")
    return bool(colon) and all(word.isidentifier() for word in module.strip().split("."))


def _location(path: str) -> str:
    """Of the package: to look for a module inside it would import it."""
    package = path.partition(":")[0].strip().partition(".")[0]
    try:
        found = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        found = None
    return found.origin or "built in" if found else "not found"
