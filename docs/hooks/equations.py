"""Equations as MathML, written when the site is built: browsers draw it themselves, so no script comes from anywhere.

    ```math
    \\phi(u, v) = \\exp(\\cos(u, v) / \\tau)
    ```

and inside a line `#!math \\tau` between backticks.
"""

from __future__ import annotations

from typing import Any

from latex2mathml.converter import convert


def fence(source: str, language: str, css_class: str, options: Any, md: Any, **more: Any) -> str:
    """A block; where it is wider than the screen, it scrolls by itself."""
    return f'<div class="equation">{convert(source.strip(), display="block")}</div>'


def inline(source: str, language: str, css_class: str, md: Any) -> str:
    """A symbol in a line."""
    return convert(source.strip())


def add_to(config: Any) -> None:
    """Tells the Markdown extensions what `math` is."""
    blocks = config["mdx_configs"].setdefault("pymdownx.superfences", {})
    blocks["custom_fences"] = [{"name": "math", "class": "equation", "format": fence}]
    lines = config["mdx_configs"].setdefault("pymdownx.inlinehilite", {})
    lines["custom_inline"] = [{"name": "math", "class": "equation", "format": inline}]
