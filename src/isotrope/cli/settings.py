"""`--set KEY=VALUE`: what a kind can be told beyond the options of its own."""

from typing import Annotated, Any

import typer

from isotrope.io.errors import IsotropeError

KindSettings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Any other setting of this kind. Repeatable."),
]


def read_settings(texts: list[str] | None) -> dict[str, Any]:
    """`["rate=0.2", "mark=!"]` -> `{"rate": 0.2, "mark": "!"}`: values as TOML writes them, or else plain text."""
    from isotrope.recipes.files import read_value

    settings = {}
    for text in texts or ():
        key, equals, value = text.partition("=")
        if not key or not equals:
            raise IsotropeError(f"--set {text}: write KEY=VALUE, such as rate=0.2")
        settings[key.strip()] = read_value(value)
    return settings
