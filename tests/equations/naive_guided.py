"""GISTEmbed's rule and the objectives under it, as loops over plain numbers.

`g1`, `g2` are a frozen encoder's vectors of both texts of each row, `gh`, `gq` those of hard negatives and the queue.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, log

from .naive_objectives import Batch, Vector, g, phi


@dataclass
class Guided:
    g1: Batch
    g2: Batch
    gh: Batch
    gq: Batch
    margin: float | None
    threshold: float | None

    def counts(self, i: int, asking: Vector, x: Vector) -> bool:
        """Whether x is a negative for a text of row i."""
        positive = inf if self.margin is None else g(self.g1[i], self.g2[i]) - self.margin
        return g(asking, x) <= min(positive, inf if self.threshold is None else self.threshold)

    def further(self, i: int, asking: Vector, x: Vector, tau: float, queue: Batch, hard: Sequence[Batch]) -> float:
        z = 0.0
        for j in range(len(hard)):
            for k in range(len(hard[j])):
                if self.counts(i, asking, self.gh[j]):
                    z += phi(x, hard[j][k], tau)
        for j in range(len(queue)):
            if self.counts(i, asking, self.gq[j]):
                z += phi(x, queue[j], tau)
        return z


def info_nce(q: Batch, k: Batch, tau: float, queue: Batch, hard: Sequence[Batch], by: Guided) -> float:
    total = 0.0
    for i in range(len(q)):
        z = by.further(i, by.g1[i], q[i], tau, queue, hard)
        for j in range(len(k)):
            if j == i or by.counts(i, by.g1[i], by.g2[j]):
                z += phi(q[i], k[j], tau)
        total += -log(phi(q[i], k[i], tau) / z)
    return total / len(q)


def opt1(c: Batch, h: Batch, tau: float, queue: Batch, hard: Sequence[Batch], by: Guided) -> float:
    total = 0.0
    for i in range(len(c)):
        z = by.further(i, by.g1[i], c[i], tau, queue, hard)
        for j in range(len(c)):
            if j != i and by.counts(i, by.g1[i], by.g1[j]):
                z += phi(c[i], c[j], tau)
            if j == i or by.counts(i, by.g1[i], by.g2[j]):
                z += phi(c[i], h[j], tau)
        total += -log(phi(c[i], h[i], tau) / z)
    return total / len(c)


def opt2_official(c: Batch, h: Batch, tau: float, queue: Batch, hard: Sequence[Batch], by: Guided) -> float:
    total = 0.0
    for i in range(len(c)):
        z = by.further(i, by.g1[i], c[i], tau, queue, hard) + phi(c[i], h[i], tau)
        for j in [j for j in range(len(c)) if j != i][1:]:
            if by.counts(i, by.g1[i], by.g2[j]):
                z += phi(c[i], h[j], tau)
        total += -log(phi(c[i], h[i], tau) / z)
    return total / len(c)


def opt3(c: Batch, h: Sequence[Batch], tau: float, queue: Batch, hard: Sequence[Batch], by: Guided) -> float:
    b, layers = len(c), len(h[0])
    total = 0.0
    for i in range(b):
        for k in range(layers):
            z = phi(c[i], h[i][k], tau) + by.further(i, by.g1[i], c[i], tau, queue, hard)
            for m in range(b):
                if m != i and by.counts(i, by.g1[i], by.g2[m]):
                    for n in range(layers):
                        z += phi(c[i], h[m][n], tau)
            total += -log(phi(c[i], h[i][k], tau) / z)
    return total / (b * layers)


def nt_xent(a: Batch, b: Batch, tau: float, queue: Batch, hard: Sequence[Batch], by: Guided) -> float:
    n = len(a)
    x, frozen = [*a, *b], [*by.g1, *by.g2]
    total = 0.0
    for m in range(2 * n):
        mu = (m + n) % (2 * n)
        z = by.further(m % n, frozen[m], x[m], tau, queue, hard)
        for k in range(2 * n):
            if k != m and (k == mu or by.counts(m % n, frozen[m], frozen[k])):
                z += phi(x[m], x[k], tau)
        total += -log(phi(x[m], x[mu], tau) / z)
    return total / (2 * n)
