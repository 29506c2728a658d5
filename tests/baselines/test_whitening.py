from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import isotrope
from isotrope.fits.whitening import Moments, whiten, whitening_matrix
from isotrope.io.errors import IsotropeError


@given(st.lists(st.integers(1, 9), min_size=1, max_size=6), st.floats(-1e4, 1e4), st.integers(0, 99))
@settings(max_examples=50, deadline=None)
def test_moments_do_not_depend_on_the_blocks(sizes: list[int], offset: float, seed: int) -> None:
    vectors = np.random.default_rng(seed).normal(offset, 1, (sum(sizes), 3))
    moments = Moments(3)
    for block in np.split(vectors, np.cumsum(sizes)[:-1]):
        moments.add(block)
    assert moments.count == len(vectors)
    assert np.allclose(moments.mean, vectors.mean(0), rtol=1e-12)
    assert np.allclose(moments.covariance, np.cov(vectors.T, bias=True), atol=1e-9)


def test_a_large_mean_does_not_swallow_a_small_variance() -> None:
    """The sum of squares less the square of the sum would lose it: 1e16 has no room for 1e-6."""
    vectors = np.random.default_rng(0).normal(1e8, 1e-3, (5000, 2))
    moments = Moments(2)
    for block in np.split(vectors, 50):
        moments.add(block)
    assert np.allclose(moments.covariance, np.cov((vectors - vectors[0]).T, bias=True), rtol=1e-4)


def test_fitted_vectors_are_white(encoder: isotrope.Encoder, text: list[str]) -> None:
    white = whiten(encoder, text)
    vectors = white.encode(text).astype(np.float64)
    assert white.dim == vectors.shape[1] == 255  # the last LayerNorm ties the 256 components by one equation
    assert np.abs(vectors.mean(0)).max() <= 1e-3
    assert np.abs(np.cov(vectors.T, bias=True) - np.eye(255)).max() <= 1e-2


def test_reduced_whitening_is_that_of_the_paper(encoder: isotrope.Encoder, text: list[str]) -> None:
    """Su et al., Algorithm 1, in four lines of numpy; columns have no sign of their own."""
    vectors = encoder.encode(text).astype(np.float64)
    mean = vectors.mean(0, keepdims=True)
    u, s, _ = np.linalg.svd(np.cov(vectors.T, bias=True))
    wanted = (vectors - mean) @ (u @ np.diag(1 / np.sqrt(s)))[:, :40]
    found = whiten(encoder, text, 40).encode(text)
    signs = np.sign((found * wanted).sum(0))
    assert np.abs(found * signs - wanted).max() <= 1e-4


def test_one_pass_over_the_text(encoder: isotrope.Encoder, text: list[str]) -> None:
    """A generator can be read once only."""
    once = whiten(encoder, (sentence for sentence in text), 16)
    assert np.abs(once.encode(text[:9]) - whiten(encoder, text, 16).encode(text[:9])).max() <= 1e-5


def test_it_stands_behind_what_was_there(minilm: isotrope.Encoder, text: list[str]) -> None:
    white = whiten(minilm, text, 32)
    assert [type(module).__name__ for module in white.after_pooling] == ["Normalize", "Dense"]
    assert np.abs(np.cov(white.encode(text).T, bias=True) - np.eye(32)).max() <= 1e-2


@pytest.mark.parametrize(("sentences", "dim"), [(100, None), (100, 100), (1, 1), (0, None), (256, None)])
def test_too_few_sentences(encoder: isotrope.Encoder, text: list[str], sentences: int, dim: int | None) -> None:
    with pytest.raises(
        IsotropeError, match=f"of the {sentences} sentences given vary in .* directions only; give more"
    ):
        whiten(encoder, text[:sentences], dim)


def test_the_advice_is_good(encoder: isotrope.Encoder, text: list[str]) -> None:
    with pytest.raises(IsotropeError, match="or whiten to at most 99 dimensions"):
        whiten(encoder, text[:100])
    assert whiten(encoder, text[:100], 99).dim == 99


@pytest.mark.parametrize("dim", [0, 257])
def test_dimensions_that_there_are_not(encoder: isotrope.Encoder, text: list[str], dim: int) -> None:
    with pytest.raises(IsotropeError, match="choose 1 to 256"):
        whiten(encoder, text, dim)


def test_the_largest_variances_come_first() -> None:
    moments = Moments(3)
    moments.add(np.random.default_rng(0).normal(0, [1, 9, 3], (4000, 3)))
    order = np.abs(whitening_matrix(moments)).argmax(0)
    assert order.tolist() == [1, 2, 0]
