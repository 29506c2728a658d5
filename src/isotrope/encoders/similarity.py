"""Cosines of texts, for every encoder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from isotrope.encoders.nearest import Floats, unit_rows


class Similarities:
    """What anything with `encode` can do: compare texts."""

    encode: Any

    def similarity(self, first: str | Sequence[Any], second: str | Sequence[Any] | None = None) -> Floats:
        """Cosines of each of `first` with each of `second` (first, second); without it, of `first` among themselves.

        Both are texts or vectors.

        >>> import isotrope
        >>> isotrope.load().similarity(["A dog barks.", "A dog is barking."], "Rates rise.").shape
        (2, 1)
        """
        one = self._vectors(first)
        return one @ (one if second is None else self._vectors(second)).T

    def _vectors(self, given: str | Sequence[Any]) -> Floats:
        texts = [given] if isinstance(given, str) else given
        encoded = self.encode(list(texts)) if len(texts) and isinstance(texts[0], str) else texts
        return unit_rows(np.atleast_2d(np.asarray(encoded, np.float32)))
