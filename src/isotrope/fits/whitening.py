"""Whitening: vectors turned and scaled so that every direction varies as much as any other (Su et al., 2021)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from isotrope.encoders import Encoder
from isotrope.fits.base import FitSpec, Floats, affine
from isotrope.io.errors import IsotropeError

SINGULAR = 1e-10  # a variance this small beside the largest is rounding: dividing by it would blow up noise


class Whitening(FitSpec):
    """Whitening, perhaps to fewer dimensions."""

    kind: Literal["whitening"] = "whitening"
    dim: int | None = Field(default=None, ge=1)  # None: all directions in which the vectors vary

    def fit(self, encoder: Encoder, sentences: Sequence[str]) -> Encoder:
        """Reads the sentences once."""
        return whiten(encoder, sentences, self.dim)


class Moments:
    """Mean and covariance of vectors that come in blocks; memory does not grow with their number.

    Chan, Golub and LeVeque (1979): the blocks' sums of squares are about their own means, so nothing large cancels.
    """

    def __init__(self, dim: int) -> None:
        self.count = 0
        self.mean: Floats = np.zeros(dim)
        self._scatter: Floats = np.zeros((dim, dim))

    def add(self, block: NDArray[Any]) -> None:
        """Further vectors, (some, dim)."""
        block = block.astype(np.float64)
        mean = block.mean(0)
        centred, shift = block - mean, mean - self.mean
        total = self.count + len(block)
        self._scatter += centred.T @ centred + np.outer(shift, shift) * (self.count * len(block) / total)
        self.mean += shift * (len(block) / total)
        self.count = total

    @property
    def covariance(self) -> Floats:
        """1/N sum (x - mean)^T (x - mean), (dim, dim)."""
        return self._scatter / max(self.count, 1)


def whiten(encoder: Encoder, sentences: Iterable[str], dim: int | None = None) -> Encoder:
    """The encoder with whitening behind it, fitted on the sentences' vectors in one pass.

    x -> (x - mean) W, W = U sqrt(Lambda^-1) of the covariance U Lambda U^T; with `dim` only the columns of the `dim`
    largest variances (Su et al., Algorithm 1), without it all directions in which the vectors vary. It is a
    sentence-transformers Dense module: it loads without isotrope.
    """
    if dim is not None and not 1 <= dim <= encoder.dim:
        raise IsotropeError(f"whitening to {dim} dimensions: the encoder has {encoder.dim}; choose 1 to {encoder.dim}")
    moments = Moments(encoder.dim)
    for block in encoder.encode_stream(sentences):
        moments.add(block)
    weight = whitening_matrix(moments, dim)
    return encoder.with_after_pooling(
        [*encoder.after_pooling, affine(weight, -moments.mean @ weight).to(encoder.device)]
    )


def whitening_matrix(moments: Moments, dim: int | None = None) -> Floats:
    """W, (dimensions, dim).

    Even of ever so many sentences some directions may not vary: a LayerNorm ties each token vector's components by one
    equation, and with them the mean of tokens. Too few sentences are another matter: they say nothing of the rest.
    """
    variances, directions = np.linalg.eigh(moments.covariance)  # ascending
    varied = int((variances > SINGULAR * variances[-1]).sum())
    if varied < (dim or 1) or (dim is None and moments.count <= len(variances)):
        less = f", or whiten to at most {varied} dimensions" if varied else ""
        raise IsotropeError(
            f"whitening to {dim or len(variances)} dimensions: the vectors of the {moments.count} sentences given vary "
            f"in {varied} directions only; give more text{less}"
        )
    largest = slice(None, -(dim or varied) - 1, -1)
    weight: Floats = directions[:, largest] / np.sqrt(variances[largest])
    return weight
