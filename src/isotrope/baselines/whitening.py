"""Whitening of a frozen encoder (Su et al., 2021)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from pydantic import Field

from isotrope.baselines.base import OnEncoder
from isotrope.encoders import Encoder
from isotrope.fits.whitening import whiten


class WhiteningSpec(OnEncoder):
    """Whitening of an encoder's vectors, perhaps to fewer dimensions."""

    title: ClassVar[str] = "Whitening (Su et al., 2021)"
    kind: str = "whitening"
    pooling: str | None = None  # None: the encoder's own
    dim: int | None = Field(default=None, ge=1)  # None: all directions in which the vectors vary

    def fit(self, text: Iterable[str] | None, *, show_progress: bool = False) -> Encoder:
        """Reads the text once."""
        return whiten(self.encoder(self.pooling), text or (), self.dim)
