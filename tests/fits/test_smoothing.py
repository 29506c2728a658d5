"""Smoothing against a naive twin, and as what is saved and loaded."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sentence_transformers import SentenceTransformer

import isotrope
from isotrope.fits import FITS
from isotrope.fits.smoothing import Smoothing, neighbour_map, part_whitening
from isotrope.text import bundled_sentences


def naive_map(x: np.ndarray, neighbours: int, threshold: float, ridge: float) -> np.ndarray:
    """G of the docstring, text by text and dimension by dimension."""
    directions = [row / np.sqrt(sum(row * row)) for row in x]
    given, wanted = [], []
    for i, own in enumerate(directions):
        others = sorted(((float(own @ other), j) for j, other in enumerate(directions) if j != i), reverse=True)
        weights = {j: cosine - threshold for cosine, j in others[:neighbours] if cosine > threshold}
        if weights:
            given.append(own)
            wanted.append(sum(w * directions[j] for j, w in weights.items()) / sum(weights.values()))
    u, a, dim = np.array(given), np.array(wanted), x.shape[1]
    r = ridge * sum(float(row @ row) for row in u) / dim
    # each column of G is a ridge regression of its own: least squares with sqrt(r) I below
    stacked = np.vstack([u, np.sqrt(r) * np.eye(dim)])
    columns = [np.linalg.lstsq(stacked, np.append(a[:, d], np.zeros(dim)), rcond=None)[0] for d in range(dim)]
    return np.stack(columns, axis=1)


@pytest.mark.parametrize(("neighbours", "threshold"), [(3, 0.2), (5, -1.0), (100, 0.4)])
def test_neighbour_map_is_that_of_the_docstring(neighbours: int, threshold: float) -> None:
    x = np.random.default_rng(1).standard_normal((40, 6))
    x -= x.mean(0)
    found = neighbour_map(x, neighbours, threshold, 0.05)
    np.testing.assert_allclose(found, naive_map(x, neighbours, threshold, 0.05), atol=1e-10)


def test_texts_without_neighbours_stay_where_they_are() -> None:
    assert not neighbour_map(np.eye(4) - 0.25, 3, 0.9, 0.05).any()


def test_part_whitening_takes_part_of_the_spread() -> None:
    x = np.random.default_rng(1).standard_normal((5000, 3)) * [4.0, 2.0, 1.0]
    x -= x.mean(0)
    np.testing.assert_allclose(part_whitening(x, 0), np.eye(3), atol=1e-12)
    whole = np.cov((x @ part_whitening(x, 1)).T, bias=True)
    np.testing.assert_allclose(whole, whole[0, 0] * np.eye(3), atol=1e-9)
    np.testing.assert_allclose(part_whitening(x, -1) @ part_whitening(x, 1), np.eye(3), atol=1e-9)  # the opposite
    half = np.linalg.eigvalsh(np.cov((x @ part_whitening(x, 0.5)).T))
    np.testing.assert_allclose(half / half[0], np.sqrt(np.linalg.eigvalsh(np.cov(x.T)) / np.var(x[:, 2])), rtol=0.05)


def test_smoothed_encoder_loads_without_isotrope(tmp_path: Path) -> None:
    text = bundled_sentences()[:200]
    smooth = FITS.make("smoothing", whitening=0.5).fit(isotrope.load("bundled"), text)
    smooth.save(tmp_path / "smooth")
    saved = SentenceTransformer(str(tmp_path / "smooth"), device="cpu").encode(text[:20])
    np.testing.assert_allclose(saved, smooth.encode(text[:20]), atol=1e-4)
    plain = isotrope.load("bundled").encode(text)
    assert nearer(smooth.encode(text), text) > nearer(plain, text)


def nearer(vectors: np.ndarray, text: list[str]) -> float:
    """How far above the mean the nearest neighbour's cosine is, in standard deviations."""
    unit = (vectors - vectors.mean(0)) / np.linalg.norm(vectors - vectors.mean(0), axis=1, keepdims=True)
    cosines = unit @ unit.T
    np.fill_diagonal(cosines, np.nan)
    return float((np.nanmax(cosines, axis=1).mean() - np.nanmean(cosines)) / np.nanstd(cosines))


@pytest.mark.parametrize("texts", [["one"], ["one", "two"], ["one", "one", "one"]])
def test_little_text_changes_little(texts: list[str]) -> None:
    encoder = isotrope.load("bundled")
    before, after = (
        encoder.encode(["A dog.", "A cat."]),
        FITS.make("smoothing").fit(encoder, texts).encode(["A dog.", "A cat."]),
    )
    cosines = [float(a @ b / np.linalg.norm(a) / np.linalg.norm(b)) for a, b in (before, after)]
    assert cosines[0] == pytest.approx(cosines[1], abs=0.01)


def test_the_map_is_that_of_the_docstring() -> None:
    vectors = np.random.default_rng(1).standard_normal((50, 5))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    spec = Smoothing(strength=0.7, neighbours=4, threshold=0.1, whitening=0.5, centring=0.4, trust=150)
    weight, bias = spec.map(vectors)
    mean = vectors.mean(0)
    turned = part_whitening(vectors - mean, 0.25 * 0.5)
    pull = naive_map((vectors - mean) @ turned, 4, 0.1, 0.05)
    for v in vectors:
        wanted = (v - 0.25 * 0.4 * mean) @ turned + 0.25 * 0.7 * (v - mean) @ turned @ pull
        np.testing.assert_allclose(v @ weight + bias, wanted, atol=1e-10)
