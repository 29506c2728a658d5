"""HTML that can't be broken by what people write: every value is escaped unless it is HTML of ours already."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any
from unicodedata import category

NOT_SHOWN = ("Cc", "Cs")  # control characters and halves of surrogates


class Html(str):
    """Text that is HTML."""

    __slots__ = ()


def fill(template: str, **values: Any) -> Html:
    """The template with the values in its places.

    >>> fill("<b>{name}</b>{more}", name="<i>", more=Html("<br>"))
    '<b>&lt;i&gt;</b><br>'
    """
    return Html(template.format(**{name: _escaped(value) for name, value in values.items()}))


def joined(parts: Iterable[Html], separator: str = "") -> Html:
    """One after the other."""
    return Html(separator.join(parts))


def table(heads: Sequence[str], rows: Iterable[Sequence[Any]], kind: str = "") -> Html:
    """A table whose first column names the row; on a narrow page it is scrolled by itself."""
    head = joined(fill('<th scope="col">{name}</th>', name=name) for name in heads)
    body = []
    for first, *others in rows:
        cells = joined(fill("<td>{value}</td>", value=value) for value in others)
        body.append(fill('<tr><th scope="row">{first}</th>{cells}</tr>', first=first, cells=cells))
    return fill(
        '<div class="scroll"><table class="{kind}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>',
        kind=kind,
        head=head,
        body=joined(body),
    )


def facts(pairs: Iterable[tuple[str, Any]]) -> Html:
    """Names and what they stand for; those without a value are left out."""
    items = (fill("<dt>{name}</dt><dd>{value}</dd>", name=name, value=value) for name, value in pairs if value)
    return fill("<dl>{items}</dl>", items=joined(items))


def explained(name: str, meaning: str) -> Html:
    """The head of a row, and under it what it means."""
    return fill("{name}<small>{meaning}</small>", name=name, meaning=meaning)


def shortened(text: str, longest: int = 300) -> str:
    """A text to be read at a glance."""
    flat = " ".join(text.split())
    return flat if len(flat) <= longest else f"{flat[: longest - 2].rstrip()} …"


def _escaped(value: Any) -> str:
    if isinstance(value, Html):
        return value
    text = str(value)
    if not text.isprintable():
        text = "".join(" " if category(one) in NOT_SHOWN and one not in "\n\t" else one for one in text)
    return escape(text)
