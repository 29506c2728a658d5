"""How an encoder lays out the texts of a report: similarities, neighbours, directions in use, and a map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isotrope.encoders.encoder import Encoder
from isotrope.encoders.foreign import ForeignEncoder
from isotrope.encoders.nearest import Floats, unit_rows
from isotrope.evaluation.geometry.measures import effective_rank, iso_score, mean_cosine, spectrum, uniformity
from isotrope.io.errors import IsotropeError

Points = NDArray[np.float64]  # (texts, 2)
DIRECTIONS = 50  # in which texts are laid out for the map
PERPLEXITY = 30
STEPS = 400  # of t-SNE


@dataclass(frozen=True)
class Space:
    """The vectors of length one, (texts, dim), that an encoder makes of the texts."""

    name: str
    vectors: Floats
    encoder: Encoder | ForeignEncoder

    @classmethod
    def of(cls, name: str, encoder: Encoder | ForeignEncoder, texts: Sequence[str]) -> Space:
        """Encodes the texts."""
        vectors = np.asarray(encoder.encode(list(texts)), np.float32)
        if not np.isfinite(vectors).all():
            raise IsotropeError(f"{name}: the encoder gives vectors that are not numbers; there is nothing to show")
        return cls(name, unit_rows(vectors), encoder)

    @cached_property
    def cosines(self) -> Floats:
        """Of all with all, (texts, texts); -inf of a text with itself."""
        found: Floats = self.vectors @ self.vectors.T
        np.fill_diagonal(found, -np.inf)
        return found

    @cached_property
    def random(self) -> Floats:
        """Cosines of all pairs, each once."""
        pairs: Floats = self.cosines[np.triu_indices(len(self.vectors), 1)]
        return pairs

    @cached_property
    def nearest(self) -> Floats:
        """The cosine of each text and its nearest other one."""
        found: Floats = self.cosines.max(axis=1)
        return found

    @cached_property
    def directions(self) -> NDArray[np.float64]:
        """Per cent of the squared length in the first 1, 2, 3 ... principal directions."""
        return np.asarray(100 * np.cumsum(spectrum(self.vectors)), np.float64)

    @cached_property
    def figures(self) -> dict[str, float]:
        """That need no labels."""
        measured = {
            "mean_cosine": mean_cosine(self.vectors),
            "nearest_cosine": float(np.median(self.nearest)),
            "uniformity": uniformity(self.vectors),
            "effective_rank": effective_rank(self.vectors),
            "iso_score": iso_score(self.vectors),
            "directions_90": float(np.searchsorted(self.directions, 90) + 1),
        }
        return {name: round(float(value), 4) for name, value in measured.items()}

    def neighbours(self, k: int) -> NDArray[np.int64]:
        """The k texts that are nearest to each, (texts, k), the nearest first."""
        return np.argsort(-self.cosines, axis=1, kind="stable")[:, :k].astype(np.int64)


def shares(cosines: Sequence[Floats], bins: int) -> list[Points]:
    """How several sets of cosines are distributed over the same bins: (bins, 2) each, the middle of a bin and the per
    cent of the cosines in it.
    """
    edges = np.histogram_bin_edges(np.concatenate(cosines), bins)
    middles = (edges[:-1] + edges[1:]) / 2
    counts = [np.histogram(some, edges)[0] for some in cosines]
    return [np.stack([middles, 100 * some / max(some.sum(), 1)], axis=1) for some in counts]


def lay_out(vectors: Floats, seed: int, like: Points | None = None) -> Points:
    """Texts on a map by t-SNE (van der Maaten and Hinton, 2008), within 0 and 1; `like` is where they begin.

    Vectors that are all the same lie in the middle.
    """
    from sklearn.decomposition import PCA
    from sklearn.manifold import TSNE

    varied = vectors - vectors.mean(axis=0)
    if np.abs(varied).max() < 1e-6:
        return np.full((len(vectors), 2), 0.5)
    main = PCA(min(DIRECTIONS, *vectors.shape), random_state=seed).fit_transform(vectors)
    begin: Any = main[:, :2] if like is None else like
    begin = 1e-4 * (begin - begin.mean(axis=0)) / max(float(begin.std()), 1e-12)
    perplexity = min(PERPLEXITY, (len(vectors) - 1) / 3)
    made = TSNE(
        2, perplexity=perplexity, init=begin.astype(np.float32), max_iter=STEPS, random_state=seed
    ).fit_transform(main)
    low, high = made.min(axis=0), made.max(axis=0)
    found: Points = np.asarray((made - low) / np.where(high > low, high - low, 1), np.float64)
    return found if np.isfinite(found).all() else np.full((len(vectors), 2), 0.5)
