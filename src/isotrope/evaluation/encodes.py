"""What can be evaluated."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray


class Encodes(Protocol):
    """Anything that turns sentences into vectors: an isotrope or sentence-transformers encoder, a baseline."""

    def encode(self, sentences: list[str], *, batch_size: int = ...) -> NDArray[np.floating[Any]]:
        """One vector a sentence, in their order: (sentences, dim)."""
        ...
