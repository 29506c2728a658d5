"""The picture of a method: a sentence seen in two ways, a student and a guide, an objective. Drawn from a block such as

    ```picture
    text: a sentence
    first: as it stands
    second: as it stands
    student: student
    guide: frozen copy, every layer
    objective: opt3
    learns: student
    ```

`learns` says which sides the gradient reaches (`student`, or `student, guide`). Colours are the page's own.
"""

from __future__ import annotations

from html import escape
from typing import Any

ROWS = {"first": 40, "second": 150}
BOX = '<rect class="{kind}" x="{x}" y="{y}" width="{width}" height="52" rx="8"/>'
ARROW = '<path class="arrow" d="{path}" marker-end="url(#tip)"/>'
TIP = (
    '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
    '<path class="tip" d="M0 0 8 4 0 8z"/></marker></defs>'
)


def fence(source: str, language: str, css_class: str, options: Any, md: Any, **more: Any) -> str:
    """The block as SVG."""
    said = dict(line.split(": ", 1) for line in source.strip().splitlines())
    about = f"{said['text']}: {said['student']} and {said['guide']}, compared by {said['objective']}"
    parts = [TIP, *_box(10, 95, 130, said["text"], "box")]
    for side, who in (("first", "student"), ("second", "guide")):
        y = ROWS[side]
        parts += [ARROW.format(path=f"M140 121 C165 121 165 {y + 26} 188 {y + 26}")]
        parts += _box(190, y, 160, said[side], "box")
        parts += [ARROW.format(path=f"M350 {y + 26} H 388")]
        parts += _box(390, y, 170, said[who], "learns" if who in said["learns"] else "frozen")
        parts += [ARROW.format(path=f"M560 {y + 26} C585 {y + 26} 585 121 608 121")]
    parts += _box(610, 95, 150, said["objective"], "objective")
    drawing = "".join(parts)
    return (
        f'<figure class="method"><svg viewBox="0 0 770 222" role="img" aria-label="{escape(about)}">{drawing}'
        "</svg><figcaption>Solid: learns by gradient. Dashed: does not.</figcaption></figure>"
    )


def add_to(config: Any) -> None:
    """Tells the Markdown extension what `picture` is."""
    blocks = config["mdx_configs"].setdefault("pymdownx.superfences", {})
    blocks.setdefault("custom_fences", []).append({"name": "picture", "class": "method", "format": fence})


def _box(x: int, y: int, width: int, text: str, kind: str) -> list[str]:
    """A box with one or two lines of text."""
    lines = _lines(text, width // 8)
    top = y + 31 - 9 * (len(lines) - 1)
    words = [
        f'<text x="{x + width / 2}" y="{top + 18 * number}">{escape(line)}</text>' for number, line in enumerate(lines)
    ]
    return [BOX.format(kind=kind, x=x, y=y, width=width), *words]


def _lines(text: str, length: int) -> list[str]:
    """Words on as few lines as fit."""
    lines = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + 1 + len(word) > length:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines
