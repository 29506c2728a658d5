"""What every fit has in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field
from sentence_transformers.base.modules import Dense

from isotrope.encoders import Encoder
from isotrope.io.errors import IsotropeError
from isotrope.parts import Called, Spec

Floats = NDArray[np.float64]


class FitSpec(Spec):
    """What a recipe says about it. `texts`: of more text than this, as many are drawn."""

    texts: int = Field(default=10_000, ge=2)

    def fit(self, encoder: Encoder, sentences: Sequence[str]) -> Encoder:
        """The encoder with what was fitted on the sentences behind it; its own weights are shared."""
        raise NotImplementedError


class CalledFit(Called, FitSpec):
    """A function of one's own: `def fit(encoder, sentences, *, ...) -> Encoder`."""

    def fit(self, encoder: Encoder, sentences: Sequence[str]) -> Encoder:
        """What the function returns, which must be an encoder."""
        made = type(self).thing(encoder, sentences, **self.chosen)
        if not isinstance(made, Encoder):
            raise IsotropeError(f"fit '{self.kind}' must return an encoder, not a {type(made).__name__}")
        return made


def affine(weight: Floats, bias: Floats) -> Dense:
    """x -> x weight + bias, with weight (dim, new dim), as a sentence-transformers module."""
    return Dense(
        *weight.shape,
        activation_function=None,
        init_weight=torch.from_numpy(weight.T.copy()).float(),
        init_bias=torch.from_numpy(bias).float(),
    )


def unit(vectors: NDArray[Any]) -> NDArray[Any]:
    """Rows of length one; a row of zeros stays one."""
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: NDArray[Any] = vectors / np.where(length > 0, length, 1)
    return scaled
