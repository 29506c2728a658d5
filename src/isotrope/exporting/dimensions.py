"""Vectors of fewer numbers: the first ones, where the encoder was trained for that; else a rotation before the cut."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from isotrope.encoders import Encoder
from isotrope.encoders.after_pooling import without_last_normalize
from isotrope.fits.base import affine
from isotrope.io.errors import IsotropeError


def cut(encoder: Encoder, dim: int, text: Sequence[str] | None) -> tuple[Encoder, str]:
    """The encoder with vectors of `dim` numbers, and how they came about. `text` None: nobody gave any.

    What cuts stands before a normalisation at the end, as a sentence-transformers Dense module without activation.
    """
    if not 1 <= dim < encoder.dim:
        raise IsotropeError(
            f"dim= {dim}: the encoder's vectors have {encoder.dim} numbers; choose 1 to {encoder.dim - 1}"
        )
    kept, last = without_last_normalize(encoder.after_pooling)
    if encoder.matryoshka_dimensions:
        weight, how = np.eye(encoder.dim, dim), "the first numbers: it was trained with Matryoshka"
    elif text is None:
        raise IsotropeError(
            f"dim= {dim}: this encoder was not trained with Matryoshka, so its vectors must be rotated to the "
            "principal directions of your text before they are cut: give it with text=",
            argument="text=",
        )
    else:
        weight, how = (
            principal(encoder.with_after_pooling(kept), text, dim),
            "principal directions of the text's vectors",
        )
    return encoder.with_after_pooling([*kept, affine(weight, np.zeros(dim)), *last]), how


def principal(encoder: Encoder, text: Sequence[str], dim: int) -> NDArray[np.float64]:
    """(dimensions, dim): the directions that hold most of the vectors' squared length, about the origin.

    Not about their mean: cosines are of the vectors as they are, and these keep the dot products best.
    """
    vectors = np.concatenate(list(encoder.encode_stream(text))).astype(np.float64)
    if len(vectors) < dim:
        raise IsotropeError(f"dim= {dim}: {len(vectors)} texts are too few to find so many directions; give more text")
    return principal_directions(vectors, dim)


def principal_directions(vectors: NDArray[np.float64], dim: int) -> NDArray[np.float64]:
    """(dimensions, dim): the directions that hold most of the rows' squared length, the first the most."""
    _, directions = np.linalg.eigh(vectors.T @ vectors)  # ascending
    largest: NDArray[np.float64] = directions[:, : -dim - 1 : -1]
    return largest
