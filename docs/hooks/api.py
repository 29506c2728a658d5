"""The reference of the Python API: every public name of the package, from its docstring."""

from __future__ import annotations

import isotrope

HEAD = """# Python

Every command is a function of the package that does the same, and gives an object where the command prints a table.
Mistakes are raised as [`IsotropeError`][isotrope.IsotropeError].

## Functions
"""
MORE = """
## Losses for other trainers

::: isotrope.integrations.sentence_transformers.IsotropeLoss
    options:
      heading_level: 3
"""


def page() -> str:
    """Functions in the order of the package's own listing, then classes."""
    names = [line.split()[0] for line in (isotrope.__doc__ or "").splitlines() if line.startswith("    ")]
    listed = [name for name in names if name in isotrope.__all__ and name != "recipes"]
    functions = [*listed, *(name for name in isotrope.__all__ if name.islower() and name not in [*listed, "recipes"])]
    classes = [name for name in isotrope.__all__ if not name.islower()]
    blocks = [HEAD, *(_entry(name) for name in functions), "## Recipes\n", _entry("recipes.load")]
    blocks += [_entry("recipes.names"), "## Classes\n", *(_entry(name) for name in classes), MORE]
    return "\n".join(blocks)


def _entry(name: str) -> str:
    return f"::: isotrope.{name}\n    options:\n      heading_level: 3\n"
