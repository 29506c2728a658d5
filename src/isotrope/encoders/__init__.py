"""Sentences in, vectors out: backbone, packing, pooling, saving and loading."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from isotrope.encoders.encoder import Encoder
    from isotrope.encoders.encoding import EncodedFile, encode
    from isotrope.encoders.foreign import ForeignEncoder
    from isotrope.encoders.loading import load, load_any
    from isotrope.encoders.pooling import Pooling
    from isotrope.encoders.several_poolings import encode_poolings

__all__ = ["EncodedFile", "Encoder", "ForeignEncoder", "Pooling", "encode", "encode_poolings", "load", "load_any"]
_HOME = {
    "EncodedFile": "encoding",
    "Encoder": "encoder",
    "ForeignEncoder": "foreign",
    "Pooling": "pooling",
    "encode": "encoding",
    "encode_poolings": "several_poolings",
    "load": "loading",
    "load_any": "loading",
}


def __getattr__(name: str) -> Any:
    """Loads transformers when an encoder is first asked for: recipes are checked without it."""
    if name in _HOME:
        return getattr(importlib.import_module(f"isotrope.encoders.{_HOME[name]}"), name)
    raise AttributeError(f"module 'isotrope.encoders' has no attribute '{name}'")
