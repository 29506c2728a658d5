"""Isotrope's own sentence-transformers modules: what a saved folder may name beside those of the library itself.

`own_module` finds them by the name of their class, so that folders of earlier versions, which knew them in other
places, still load.
"""

from __future__ import annotations

from typing import Any

from isotrope.encoders.modules.flow import Flow
from isotrope.encoders.modules.use import UniversalSentenceEncoder
from isotrope.encoders.modules.wk import WKPooling
from isotrope.io.errors import IsotropeError

OWN = {module.__name__: module for module in (Flow, WKPooling, UniversalSentenceEncoder)}


def is_own(reference: str) -> bool:
    """Whether a folder's `modules.json` names a module of isotrope's."""
    return reference.startswith("isotrope.")


def own_module(reference: str) -> Any:
    """The class of `isotrope.encoders.modules.flow.Flow`."""
    name = reference.rpartition(".")[2]
    if name not in OWN:
        raise IsotropeError(f"it names the module {reference}, which this version of isotrope does not have")
    return OWN[name]


__all__ = ["Flow", "UniversalSentenceEncoder", "WKPooling", "is_own", "own_module"]
