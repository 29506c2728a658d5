"""What a student learns from teachers, as loops over plain numbers."""

from __future__ import annotations

from collections.abc import Callable
from math import exp, log

from .naive_objectives import Batch, Vector, g

Lists = list[list[float]]


def vector_cosine(s: Batch, t: Batch) -> float:
    total = 0.0
    for i in range(len(s)):
        total += 1 - g(s[i], t[i])
    return total / len(s)


def vector_mse(s: Batch, t: Batch) -> float:
    total = 0.0
    for i in range(len(s)):
        for k in range(len(s[i])):
            total += (s[i][k] - t[i][k]) ** 2 / len(s[i])
    return total / len(s)


def similarities(s: Batch, t: Batch) -> float:
    total, pairs = 0.0, 0
    for i in range(len(s)):
        for j in range(len(s)):
            if j != i:
                total += (g(s[i], s[j]) - g(t[i], t[j])) ** 2
                pairs += 1
    return total / pairs


def lists(first: Batch, second: Batch) -> Lists:
    """S(x_i): every other sentence's similarity to x_i."""
    return [[g(first[i], second[j]) for j in range(len(second)) if j != i] for i in range(len(first))]


def softmax(scores: Vector, tau: float) -> list[float]:
    whole = sum(exp(score / tau) for score in scores)
    return [exp(score / tau) / whole for score in scores]


def listnet(s: Lists, t: Lists, tau2: float, tau3: float) -> float:
    total = 0.0
    for i in range(len(s)):
        p, q = softmax(t[i], tau3), softmax(s[i], tau2)
        for j in range(len(p)):
            total += -p[j] * log(q[j])
    return total / len(s)


def listmle(s: Lists, t: Lists, tau2: float) -> float:
    total = 0.0
    for i in range(len(s)):
        pi = sorted(range(len(t[i])), key=lambda j: -t[i][j])
        likelihood = 1.0
        for j in range(len(pi)):
            likelihood *= exp(s[i][pi[j]] / tau2) / sum(exp(s[i][pi[k]] / tau2) for k in range(j, len(pi)))
        total += -log(likelihood)
    return total / len(s)


def consistency(s: Lists, s_prime: Lists, tau1: float) -> float:
    def kl(p: list[float], q: list[float]) -> float:
        return sum(a * log(a / b) for a, b in zip(p, q, strict=True))

    total = 0.0
    for i in range(len(s)):
        p, q = softmax(s[i], tau1), softmax(s_prime[i], tau1)
        m = [(a + b) / 2 for a, b in zip(p, q, strict=True)]
        total += (kl(p, m) + kl(q, m)) / 2
    return total / len(s)


def weighted(one: Lists, other: Lists, alpha: float) -> Lists:
    mix: Callable[[float, float], float] = lambda a, b: alpha * a + (1 - alpha) * b  # noqa: E731
    return [[mix(a, b) for a, b in zip(x, y, strict=True)] for x, y in zip(one, other, strict=True)]
