"""Isotrope: sentence embeddings from raw text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from isotrope.encoders import Encoder, Pooling, load

__version__ = "0.1.0"
__all__ = ["Encoder", "Pooling", "load"]


def __getattr__(name: str) -> Any:
    """Loads torch and transformers when they are first asked for, so that `isotrope --help` answers at once."""
    if name in __all__:
        import isotrope.encoders

        return getattr(isotrope.encoders, name)
    raise AttributeError(f"module 'isotrope' has no attribute '{name}'")
