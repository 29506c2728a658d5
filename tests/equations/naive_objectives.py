"""The papers' objectives as they are printed: loops over plain numbers, to be held beside the equations.

A vector is a list of floats, a batch a list of vectors. Sums run over indices from 0 where the papers count from 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log, sqrt

Vector = Sequence[float]
Batch = Sequence[Vector]


def g(u: Vector, v: Vector) -> float:
    """Paper 1: u·v / ‖u‖‖v‖. The papers have no zero vectors; here one is orthogonal to everything."""
    dot = sum(x * y for x, y in zip(u, v, strict=True))
    lengths = sqrt(sum(x * x for x in u)) * sqrt(sum(y * y for y in v))
    return dot / lengths if lengths else 0.0


def phi(u: Vector, v: Vector, tau: float) -> float:
    return exp(g(u, v) / tau)


def further(x: Vector, tau: float, queue: Batch, hard: Sequence[Batch]) -> float:
    """What a queue and hard negatives, which papers 1 and 2 do not have, add to a denominator."""
    z = 0.0
    for key in queue:
        z += phi(x, key, tau)
    for j in range(len(hard)):
        for k in range(len(hard[j])):
            z += phi(x, hard[j][k], tau)
    return z


# -- paper 1, section 3.1; paper 2, L_i,j ------------------------------------------------------------------------------


def base(c: Batch, h: Batch, tau: float, queue: Batch = (), hard: Sequence[Batch] = ()) -> float:
    b = len(c)
    x = [*c, *h]
    total = 0.0
    for m in range(2 * b):
        mu = x[m + b] if m < b else x[m - b]
        z = further(x[m], tau, queue, hard)
        for n in range(2 * b):
            if n != m:
                z += phi(x[m], x[n], tau)
        total += -log(phi(x[m], mu, tau) / z)
    return total / (2 * b)


# -- paper 1, section 3.2 ----------------------------------------------------------------------------------------------


def opt1(c: Batch, h: Batch, tau: float, queue: Batch = (), hard: Sequence[Batch] = ()) -> float:
    b = len(c)
    total = 0.0
    for i in range(b):
        z = further(c[i], tau, queue, hard)
        for j in range(b):
            if j != i:
                z += phi(c[i], c[j], tau)
        for j in range(b):
            z += phi(c[i], h[j], tau)
        total += -log(phi(c[i], h[i], tau) / z)
    return total / b


def opt2(c: Batch, h: Batch, tau: float, queue: Batch = (), hard: Sequence[Batch] = ()) -> float:
    b = len(c)
    total = 0.0
    for i in range(b):
        z = further(c[i], tau, queue, hard)
        for j in range(b):
            z += phi(c[i], h[j], tau)
        total += -log(phi(c[i], h[i], tau) / z)
    return total / b


def opt2_official(c: Batch, h: Batch, tau: float, queue: Batch = (), hard: Sequence[Batch] = ()) -> float:
    """What the published code computes: of the list of negatives, b - 1 c's and b - 1 h's, it cuts off the first b."""
    b = len(c)
    total = 0.0
    for i in range(b):
        negatives = [c[j] for j in range(b) if j != i] + [h[j] for j in range(b) if j != i]
        z = phi(c[i], h[i], tau) + further(c[i], tau, queue, hard)
        for x in negatives[b:]:
            z += phi(c[i], x, tau)
        total += -log(phi(c[i], h[i], tau) / z)
    return total / b


def opt3(c: Batch, h: Sequence[Batch], tau: float, queue: Batch = (), hard: Sequence[Batch] = ()) -> float:
    b, layers = len(c), len(h[0])
    total = 0.0
    for i in range(b):
        for k in range(layers):
            z = phi(c[i], h[i][k], tau) + further(c[i], tau, queue, hard)
            for m in range(b):
                if m != i:
                    for n in range(layers):
                        z += phi(c[i], h[m][n], tau)
            total += -log(phi(c[i], h[i][k], tau) / z)
    return total / (b * layers)


def reg(fixed: Sequence[float], tuned: Sequence[float]) -> float:
    total = 0.0
    for f, t in zip(fixed, tuned, strict=True):
        total += (f - t) ** 2
    return total


# -- paper 2, the classifier of joint training -------------------------------------------------------------------------


def cross_entropy(u: Batch, v: Batch, labels: Sequence[int], weight: Batch, bias: Vector, maximum: bool) -> float:
    total = 0.0
    for i, label in enumerate(labels):
        features = [*u[i], *v[i], *(abs(x - y) for x, y in zip(u[i], v[i], strict=True))]
        if maximum:
            features += [max(x, y) ** 2 for x, y in zip(u[i], v[i], strict=True)]
        scores = []
        for w, beta in zip(weight, bias, strict=True):
            scores.append(sum(x * y for x, y in zip(w, features, strict=True)) + beta)
        total += -log(exp(scores[label]) / sum(exp(score) for score in scores))
    return total / len(labels)


# -- paper 3, equations 1 and 2 ----------------------------------------------------------------------------------------


def d(z: Batch, h: Batch) -> float:
    total = 0.0
    for i in range(len(z)):
        total += -g(z[i], h[i])
    return total / len(z)


def bsl(z1: Batch, h2: Batch, z2: Batch, h1: Batch) -> float:
    return 1 / 2 * d(z1, h2) + 1 / 2 * d(z2, h1)


# -- paper 4: InfoNCE over batch and queue; SimCSE, equations 1 (plain) and 5 (with hard negatives) --------------------


def info_nce(query: Batch, keys: Batch, tau: float, queue: Batch = (), hard: Sequence[Batch] = ()) -> float:
    n = len(query)
    total = 0.0
    for i in range(n):
        z = further(query[i], tau, queue, hard)
        for j in range(n):
            z += phi(query[i], keys[j], tau)
        total += -log(phi(query[i], keys[i], tau) / z)
    return total / n
