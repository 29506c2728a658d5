"""The text views by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from isotrope.io.errors import IsotropeError, nearest
from isotrope.views.text.base import TextView

TEXT_KINDS = ("back-translation", "synonyms", "mlm")


def make_text_view(kind: str, **fields: Any) -> TextView:
    """The view of a name. `fields` are its own: a pivot and an engine, a rate, a model, a seed ..."""
    if kind not in TEXT_KINDS:
        raise IsotropeError(f"unknown text view '{kind}'{nearest(kind, TEXT_KINDS)}; choose {', '.join(TEXT_KINDS)}")
    make = _maker(kind)
    known = list(inspect.signature(make).parameters)
    for name in fields:
        if name not in known:
            raise IsotropeError(f"text view '{kind}' has no '{name}'{nearest(name, known)}; it has {', '.join(known)}")
    return make(**fields)


def _maker(kind: str) -> Callable[..., TextView]:
    """Each needs packages of its own, which are imported when it is asked for."""
    if kind == "back-translation":
        from isotrope.views.text.back_translation import BackTranslation

        return BackTranslation
    if kind == "synonyms":
        from isotrope.views.text.synonyms import Synonyms

        return Synonyms
    from isotrope.views.text.masked import MaskedSubstitutes

    return MaskedSubstitutes
