"""Isotrope: sentence embeddings from raw text."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from isotrope.encoders import Encoder, Pooling, load
    from isotrope.training.run import train

__version__ = "0.1.0"
__all__ = ["Encoder", "Pooling", "load", "train"]
_HOME = {**dict.fromkeys(("Encoder", "Pooling", "load"), "isotrope.encoders"), "train": "isotrope.training.run"}


def __getattr__(name: str) -> Any:
    """Loads torch and transformers when they are first asked for, so that `isotrope --help` answers at once."""
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    raise AttributeError(f"module 'isotrope' has no attribute '{name}'")
