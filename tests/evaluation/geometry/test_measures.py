from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from isotrope.evaluation.geometry import (
    alignment,
    effective_rank,
    iso_score,
    mean_cosine,
    partition_isotropy,
    spectrum,
    uniformity,
)

Vectors = NDArray[np.float64]


@st.composite
def clouds(draw: st.DrawFn) -> Vectors:
    """2 to 12 vectors of 1 to 6 dimensions, anywhere between a narrow cone and the whole sphere."""
    rows, dim = draw(st.integers(2, 12)), draw(st.integers(1, 6))
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return generator.normal(size=(rows, dim)) + draw(st.sampled_from([0.0, 1.0, 20.0]))


def unit(vector: Vectors) -> list[float]:
    length = math.sqrt(sum(v * v for v in vector))
    return [v / length for v in vector]


def squared_distance(x: Vectors, y: Vectors) -> float:
    return sum((a - b) ** 2 for a, b in zip(unit(x), unit(y), strict=True))


@given(clouds(), st.floats(0.5, 4))
def test_uniformity_equals_the_loop_over_pairs(x: Vectors, t: float) -> None:
    terms = [math.exp(-t * squared_distance(a, b)) for a, b in combinations(x, 2)]
    assert uniformity(x, t) == pytest.approx(math.log(sum(terms) / len(terms)), abs=1e-10)


@given(clouds())
def test_mean_cosine_equals_the_loop_over_pairs(x: Vectors) -> None:
    terms = [sum(a * b for a, b in zip(unit(p), unit(q), strict=True)) for p, q in combinations(x, 2)]
    assert mean_cosine(x) == pytest.approx(sum(terms) / len(terms), abs=1e-10)


@given(clouds())
def test_alignment_equals_the_loop_over_positives(x: Vectors) -> None:
    y = x[::-1] + 0.5
    terms = [squared_distance(a, b) for a, b in zip(x, y, strict=True)]
    assert alignment(x, y) == pytest.approx(sum(terms) / len(terms), abs=1e-10)


@given(clouds())
def test_effective_rank_equals_its_definition_on_the_gram_matrix(x: Vectors) -> None:
    gram = x @ x.T if len(x) <= x.shape[1] else x.T @ x
    singular = np.sqrt(np.linalg.eigvalsh(gram).clip(min=0))
    entropy = -sum(p * math.log(p) for p in singular / singular.sum() if p > 0)
    assert effective_rank(x) == pytest.approx(math.exp(entropy), rel=1e-4)  # squared, so half the digits


@given(clouds())
def test_bounds_and_what_length_and_rotation_leave_alone(x: Vectors) -> None:
    assert -8 <= uniformity(x) <= 1e-12
    assert 1 - 1e-12 <= effective_rank(x) <= min(x.shape) + 1e-9
    lengths = np.arange(1, len(x) + 1)[:, None]
    rotation = np.linalg.qr(np.random.default_rng(0).normal(size=(x.shape[1], x.shape[1])))[0]
    for figure in (uniformity, mean_cosine):
        assert figure(lengths * x @ rotation) == pytest.approx(figure(x), abs=1e-10)
    assert effective_rank(3 * x @ rotation) == pytest.approx(effective_rank(x), abs=1e-8)


def test_known_clouds() -> None:
    axes, point = np.eye(4), np.ones((4, 3))
    assert (mean_cosine(axes), uniformity(axes), effective_rank(axes)) == pytest.approx((0, -4, 4))  # d^2 = 2
    assert (mean_cosine(point), uniformity(point), effective_rank(point)) == pytest.approx((1, 0, 1))
    assert alignment(axes, 7 * axes) == pytest.approx(0)
    assert alignment(axes, -axes) == pytest.approx(4)
    assert math.isnan(uniformity(axes[:1]))
    assert math.isnan(mean_cosine(axes[:1]))


def test_a_tensor_that_trains_in_half_precision_is_taken_as_it_is() -> None:
    x = torch.eye(3, dtype=torch.bfloat16, requires_grad=True)
    assert effective_rank(x) == pytest.approx(3)
    assert uniformity(x) == pytest.approx(-4)


@given(clouds())
def test_spectrum_equals_the_eigenvalues_of_the_gram_matrix(x: Vectors) -> None:
    gram = x @ x.T if len(x) <= x.shape[1] else x.T @ x
    eigenvalues = np.sort(np.linalg.eigvalsh(gram).clip(min=0))[::-1]
    found = spectrum(x)
    assert found == pytest.approx(eigenvalues / eigenvalues.sum(), abs=1e-9)
    assert found.sum() == pytest.approx(1)


@given(clouds())
def test_partition_isotropy_equals_the_loop_over_directions(x: Vectors) -> None:
    rows = np.array([unit(vector) for vector in x])
    eigenvalues, directions = np.linalg.eigh(rows.T @ rows)
    seen = directions.T[eigenvalues > 1e-9 if len(x) < x.shape[1] else slice(None)]
    partition = [sum(math.exp(sign * (c @ row)) for row in rows) for c in seen for sign in (1, -1)]
    distinct = np.diff(np.sort(eigenvalues[eigenvalues > 1e-9])).min(initial=1) > 1e-6  # else any basis will do
    if distinct:
        found = partition_isotropy(x)
        assert math.exp(-2) - 1e-9 <= found <= 1
        if len(seen) == min(x.shape):
            assert found == pytest.approx(min(partition) / max(partition), abs=1e-6)


@given(clouds().filter(lambda x: x.shape[1] > 1))
def test_iso_score_equals_the_published_steps(x: Vectors) -> None:
    """Rudman et al. (2022), Algorithm 1, line by line."""
    n = x.shape[1]
    axes = np.linalg.svd(x - x.mean(0), full_matrices=True)[2]
    variances = np.diag(np.cov((x @ axes.T).T))
    normalised = math.sqrt(n) * variances / np.linalg.norm(variances)
    defect = np.linalg.norm(normalised - 1) / math.sqrt(2 * (n - math.sqrt(n)))
    used = (n - defect**2 * (n - math.sqrt(n))) ** 2 / n**2
    assert iso_score(x) == pytest.approx((n * used - 1) / (n - 1), abs=1e-8)


def test_a_cone_and_a_ball() -> None:
    generator = np.random.default_rng(0)
    ball = generator.normal(size=(4000, 8))
    cone = 0.1 * ball + np.eye(8)[0]
    line = generator.normal(size=(50, 1)) * np.ones(8)
    assert partition_isotropy(ball) > 0.9 > 0.5 > partition_isotropy(cone)
    assert iso_score(ball) > 0.95
    assert iso_score(cone) > 0.95  # about its mean a cone is a ball: that is what the other figure is for
    assert iso_score(line) == pytest.approx(0, abs=1e-9)
    assert spectrum(cone)[0] > 0.9 > 0.2 > spectrum(ball)[0]
