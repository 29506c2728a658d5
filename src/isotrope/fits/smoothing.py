"""Smoothing: every vector is moved towards its near neighbours in the text, by one linear map for all.

A text whose near neighbours are known can be placed by them too: their mean says what the neighbourhood is about, and
what is peculiar to one wording cancels out in it. So it is done with graphs (label propagation; Wu et al. 2019,
Simplifying Graph Convolutional Networks). A new text has no neighbours yet; so the map from vectors to such means is
learnt by ridge regression, and new texts go through that map. `docs/domains.md` has what it gives.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from isotrope.fits.base import FitSpec, Floats, affine, unit

if TYPE_CHECKING:
    from isotrope.encoders import Encoder

ROWS_AT_ONCE = 1024  # of the matrix of cosines


class Smoothing(FitSpec):
    """`strength` of the pull; `neighbours` at most, and only those whose cosine, around the mean, is above `threshold`.

    `whitening` comes first: 0 leaves the directions as they vary, 1 whitens them wholly, and below 0 those in which the
    text varies most count for more. A raw encoder's vectors vary mostly in a few directions that say little, and need
    some; a sentence encoder's do not. `centring`: how much of the mean of the text is taken away. What all texts share
    tells them from nothing, but a sentence encoder's also says how much a text is about its field at all, so part of it
    stays. `trust`: of how many texts half is believed; a mean and neighbours found among few texts are worth little.
    `ridge` is relative to the mean variance: directions that the text says nothing about stay as they were.
    """

    kind: Literal["smoothing"] = "smoothing"
    strength: float = Field(default=0.3, gt=0, le=10)
    neighbours: int = Field(default=30, ge=1)
    threshold: float = Field(default=0.5, ge=-1, lt=1)
    whitening: float = Field(default=0.0, ge=-1, le=1)
    centring: float = Field(default=1.0, ge=0, le=1)
    trust: int = Field(default=2000, ge=0)
    ridge: float = Field(default=0.05, gt=0)

    def fit(self, encoder: Encoder, sentences: Sequence[str]) -> Encoder:
        """Encodes the sentences once; the rest takes seconds."""
        from sentence_transformers.base.modules import Normalize

        from isotrope.encoders.after_pooling import without_last_normalize

        if len(sentences) < 2:
            return encoder  # which has no neighbour
        smooth = affine(*self.map(unit(encoder.encode(list(sentences))))).to(encoder.device)
        before, last = without_last_normalize(encoder.after_pooling)
        scaled = last or [Normalize()]  # the map is of vectors of length one
        return encoder.with_after_pooling([*before, *scaled, smooth, *last])

    def map(self, vectors: NDArray[Any]) -> tuple[Floats, Floats]:
        """Weight (dim, dim) and bias (dim,) of the map, from vectors (n, dim) of length one with the mean m:

        v -> (v - t centring m) W + t strength (v - m) W G,   t = n / (n + trust),   W of the power t whitening
        """
        believed = len(vectors) / (len(vectors) + self.trust)  # t
        mean = vectors.mean(0).astype(np.float64)
        x = vectors - mean
        turned = part_whitening(x, believed * self.whitening)  # W
        pull = turned @ neighbour_map(x @ turned, self.neighbours, self.threshold, self.ridge)  # W G
        pull *= believed * self.strength
        return turned + pull, -mean @ (believed * self.centring * turned + pull)


def part_whitening(x: NDArray[Any], power: float) -> Floats:
    """W = U Λ^(-power / 2) Uᵀ, (dim, dim), where UΛUᵀ is the covariance of x (n, dim), which is around its mean.

    A variance below a thousandth of the mean one counts as that much: it is noise, or of too few texts.
    """
    variances, directions = np.linalg.eigh(x.T.astype(np.float64) @ x / len(x))
    variances = np.maximum(variances / max(variances.mean(), 1e-12), 1e-3)
    turned: Floats = (directions * variances ** (-power / 2)) @ directions.T
    return turned


def neighbour_map(x: NDArray[Any], neighbours: int, threshold: float, ridge: float) -> Floats:
    """G, (dim, dim), from vectors x (n, dim) around their mean, u their directions:

    a_i = Σ_j w_ij u_j / Σ_j w_ij,   w_ij = max(cos(u_i, u_j) - threshold, 0) for the nearest j ≠ i, else 0
    G = argmin Σ_i ‖u_i G - a_i‖² + r ‖G‖²,   over those i that have neighbours, r = ridge tr(UᵀU) / dim
    """
    u = unit(x)
    targets, has = neighbour_means(u, neighbours, threshold)
    u, targets = u[has], targets[has]
    dim = x.shape[1]
    if not len(u):
        return np.zeros((dim, dim))
    u, targets = u.astype(np.float64), targets.astype(np.float64)
    scatter = u.T @ u
    found: Floats = np.linalg.solve(scatter + ridge * np.trace(scatter) / dim * np.eye(dim), u.T @ targets)
    return found


def neighbour_means(u: NDArray[Any], neighbours: int, threshold: float) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """a_i of each row, (n, dim), and which rows have neighbours at all."""
    count = min(neighbours, len(u) - 1)
    means, has = np.zeros_like(u), np.zeros(len(u), bool)
    for start in range(0, len(u), ROWS_AT_ONCE):
        rows = np.arange(start, min(start + ROWS_AT_ONCE, len(u)))
        cosines = u[rows] @ u.T
        cosines[rows - start, rows] = -np.inf
        nearest = np.argpartition(-cosines, count - 1, axis=1)[:, :count]
        weights = np.maximum(np.take_along_axis(cosines, nearest, 1) - threshold, 0)
        total = weights.sum(1)
        has[rows] = total > 0
        weights /= np.where(total > 0, total, 1)[:, None]
        means[rows] = np.einsum("rk,rkd->rd", weights, u[nearest])
    return means, has
