"""Nearest neighbours: exact, and by the index."""

from __future__ import annotations

import numpy as np
import pytest

from isotrope.encoders.nearest import BLOCK, nearest


def vectors(n: int, dim: int = 8, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, dim)).astype(np.float32)


def cosines(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    return (one @ other.T) / np.linalg.norm(one, axis=1)[:, None] / np.linalg.norm(other, axis=1)


def test_exact_is_what_sorting_gives() -> None:
    there, asked = vectors(40), vectors(BLOCK + 3, seed=1)
    found = nearest(there, asked, 5)
    alike = cosines(asked, there)
    assert (found.places == np.argsort(-alike, axis=1)[:, :5]).all()
    assert np.allclose(found.cosines, -np.sort(-alike, axis=1)[:, :5], atol=1e-6)


def test_the_index_finds_nearly_all_of_them_and_the_same_each_time() -> None:
    there = vectors(600)
    wanted, found = nearest(there, there, 5), nearest(there, there, 5, exact_up_to=10)
    shared = [len(set(one) & set(other)) / 5 for one, other in zip(wanted.places, found.places, strict=True)]
    assert np.mean(shared) > 0.98
    assert (found.places[:, 0] == np.arange(600)).mean() > 0.99
    assert found.cosines[:, 0] == pytest.approx(1, abs=1e-4)
    again = nearest(there, there, 5, exact_up_to=10)
    assert (again.places == found.places).all()


def test_fewer_than_were_asked_for_and_zero_vectors() -> None:
    there = np.vstack([vectors(2), np.zeros((1, 8), np.float32)])
    found = nearest(there, there, 5)
    assert found.places.shape == found.cosines.shape == (3, 5)
    assert (found.places[:, 3:] == -1).all()
    assert (found.cosines[:, 3:] == -np.inf).all()
    assert np.isfinite(found.cosines[:, :3]).all()
