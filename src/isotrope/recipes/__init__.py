"""The papers as TOML: one file for each published setting, with the text's numbers and the published code's.

Where a paper leaves a number open, the default of `schema` stands, unless a comment in the file says whose it is.
"""

from isotrope.recipes.library import Row, foreign_code, load, names, overview, source, to_toml, variants
from isotrope.recipes.schema import Recipe, Stage

__all__ = ["Recipe", "Row", "Stage", "foreign_code", "load", "names", "overview", "source", "to_toml", "variants"]
