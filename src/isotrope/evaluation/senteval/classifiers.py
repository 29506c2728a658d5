"""SentEval's classifier: logistic regression or a small MLP, trained until accuracy on dev rows stops rising.

Cross-validation asks for hundreds of them on nearly the same rows. Each is small, so that training one by one would be
mostly overhead; here those with equally many training rows are trained side by side, in one tensor program. The order
of the rows is SentEval's own and no classifier knows of another, so that each is what it would be alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

Rows = NDArray[np.int64]
HELD_OUT = 0.05  # of the training rows, where a job has no dev rows of its own
SIDE_BY_SIDE = 1_000_000  # weights that are trained at once; many more would not stay in the processor's cache


@dataclass(frozen=True)
class SentEval:
    """SentEval's settings; the presets are `PAPER` and `PROTOTYPING`."""

    folds: int = 10
    batch_size: int = 64
    tenacity: int = 5  # how often, in all, dev accuracy may fail to rise; the next time ends training
    epoch_size: int = 4  # passes over the training rows from one look at dev accuracy to the next
    optimizer: Literal["adam", "rmsprop"] = "adam"
    max_epoch: int = 200
    hidden: int = 50  # units of the MLP
    l2: tuple[float, ...] = (1e-5, 1e-4, 1e-3, 1e-2)  # of which dev rows choose
    seed: int = 1111


PAPER = SentEval()  # paper 1, Table 9, and SentEval's defaults
PROTOTYPING = SentEval(folds=5, batch_size=128, tenacity=3, epoch_size=2, optimizer="rmsprop")


class Job(NamedTuple):
    """Classifiers to be trained on the same rows, one for each regularisation."""

    train: Rows
    dev: Rows | None  # None: a random 5% of the training rows are held out
    l2: tuple[float, ...]


class Fitted(NamedTuple):
    """The classifiers of a job, each as it was when its dev accuracy was highest."""

    accuracy: Tensor  # (classifiers,), on the dev rows
    weights: list[Tensor]  # of each layer (classifiers, out, in), and its bias (classifiers, out, 1)

    def predict(self, x: Tensor) -> Tensor:
        """Vectors (rows, dim) -> classes (classifiers, rows)."""
        return _logits([one[None] for one in self.weights], x[None])[0].argmax(1)


def fit(x: Tensor, y: Tensor, jobs: Sequence[Job], settings: SentEval, hidden: int = 0) -> list[Fitted]:
    """Trains the classifiers of all jobs on vectors x (rows, dim) of the classes y (rows,) 0, 1 ...

    `hidden` are the units of the MLP; with 0 it is logistic regression. All jobs have equally many classifiers.
    """
    layers = _layers(x, hidden, int(y.max()) + 1, settings.seed)
    at_once = max(1, SIDE_BY_SIDE // (len(jobs[0].l2) * sum(one.numel() for one in layers)))
    fitted: dict[int, Fitted] = {}
    order = sorted(range(len(jobs)), key=lambda i: len(jobs[i].train))
    for _, alike in groupby(order, key=lambda i: len(jobs[i].train)):
        numbers = list(alike)
        for start in range(0, len(numbers), at_once):
            some = numbers[start : start + at_once]
            done = _fit_together(x, y, [jobs[i] for i in some], settings, layers)
            fitted.update(zip(some, done, strict=True))
    return [fitted[i] for i in range(len(jobs))]


def _layers(x: Tensor, hidden: int, classes: int, seed: int) -> list[Tensor]:
    """The weights that every classifier begins with."""
    sizes = [x.shape[1], hidden, classes] if hidden else [x.shape[1], classes]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        linear = [nn.Linear(before, after) for before, after in pairwise(sizes)]
    return [one.detach().to(x) for layer in linear for one in (layer.weight, layer.bias[:, None])]


def _fit_together(
    x: Tensor, y: Tensor, jobs: Sequence[Job], settings: SentEval, layers: Sequence[Tensor]
) -> list[Fitted]:
    """Jobs with equally many training rows, which they see in the same random order."""
    random = np.random.RandomState(settings.seed)
    train, dev = _rows(jobs, random)
    l2 = x.new_tensor([job.l2 for job in jobs])[..., None, None]  # (jobs, classifiers, 1, 1)
    weights = [nn.Parameter(one.expand(*l2.shape[:2], *one.shape).clone()) for one in layers]
    optimizer = torch.optim.Adam(weights, fused=True) if settings.optimizer == "adam" else torch.optim.RMSprop(weights)
    best = _Best(weights, settings.tenacity)
    for _ in range(0, settings.max_epoch + 1, settings.epoch_size):
        for batch in _batches(train.shape[1], settings, random):
            _step(weights, optimizer, x, y, train[:, batch], l2)
        going = best.look(weights, torch.stack([_accuracy(one, x, y, dev[i]) for i, one in best.each(weights)]))
        if not going.any():
            break
        if not going.all():  # from here on without the jobs that are done
            train, l2 = train[going], l2[going]
            _keep(optimizer, going)
    return best.fitted()


class _Best:
    """What each classifier reached so far, with which weights, and which jobs (`going`) have one that still learns."""

    def __init__(self, weights: Sequence[Tensor], tenacity: int) -> None:
        copies = weights[0].shape[:2]  # (jobs, classifiers)
        self.weights = [one.detach().clone() for one in weights]
        self.accuracy = torch.full(copies, -1.0, dtype=torch.float64)
        self.misses = torch.zeros(copies, dtype=torch.int64)
        self.learning = torch.ones(copies, dtype=torch.bool)
        self.going = torch.arange(len(self.learning))
        self.tenacity = tenacity

    def each(self, weights: Sequence[Tensor]) -> Iterator[tuple[int, list[Tensor]]]:
        """The number of each job that is going, with its weights out of those of all that are."""
        for place, job in enumerate(self.going.tolist()):
            yield job, [one[place] for one in weights]

    def look(self, weights: Sequence[Tensor], accuracy: Tensor) -> Tensor:
        """Takes note of dev accuracy (jobs going, classifiers); says which of these jobs go on."""
        going = self.going
        better = self.learning[going] & (accuracy > self.accuracy[going])
        worse = self.learning[going] & ~better
        self.accuracy[going] = torch.where(better, accuracy, self.accuracy[going])
        for kept, now in zip(self.weights, weights, strict=True):
            kept[going] = torch.where(better[..., None, None], now.detach(), kept[going])
        self.learning[going] &= ~(worse & (self.misses[going] >= self.tenacity))
        self.misses[going] += worse
        on = self.learning[going].any(1)
        self.going = going[on]
        return on

    def fitted(self) -> list[Fitted]:
        return [Fitted(self.accuracy[i], [one[i] for one in self.weights]) for i in range(len(self.accuracy))]


def _rows(jobs: Sequence[Job], random: np.random.RandomState) -> tuple[Tensor, list[Tensor]]:
    """Training rows (jobs, rows), and the dev rows of each job."""
    train = torch.from_numpy(np.stack([job.train for job in jobs]))
    given = [torch.from_numpy(job.dev) for job in jobs if job.dev is not None]
    if given:
        return train, given
    order = random.permutation(train.shape[1])
    held_out = max(1, int(HELD_OUT * len(order)))
    return train[:, order[held_out:]], list(train[:, order[:held_out]])


def _batches(rows: int, settings: SentEval, random: np.random.RandomState) -> Iterator[Tensor]:
    for _ in range(settings.epoch_size):
        yield from torch.split(torch.from_numpy(random.permutation(rows)), settings.batch_size)


def _step(
    weights: list[nn.Parameter], optimizer: torch.optim.Optimizer, x: Tensor, y: Tensor, rows: Tensor, l2: Tensor
) -> None:
    """One update on rows (jobs, batch): cross-entropy, for each classifier its mean over the batch, and L2.

    SentEval asks for the sum over the batch, but in a way that torch takes no notice of since 0.4.1.
    """
    vectors = x.index_select(0, rows.flatten()).view(*rows.shape, -1)  # (jobs, batch, dim)
    logits = _logits(weights, vectors)  # (jobs, classifiers, classes, batch)
    targets = y[rows][:, None].expand(*logits.shape[:2], -1)
    loss = functional.cross_entropy(logits.flatten(0, 1), targets.flatten(0, 1), reduction="sum") / rows.shape[1]
    for one, gradient in zip(weights, torch.autograd.grad(loss, weights), strict=True):
        one.grad = gradient.addcmul_(l2, one.detach())  # as the optimizer's weight_decay, which is one for all
    optimizer.step()


def _logits(weights: Sequence[Tensor], x: Tensor) -> Tensor:
    """Vectors (jobs, rows, dim) -> (jobs, classifiers, classes, rows); the classifiers of a job share its vectors."""
    matrix, bias, *rest = weights
    logits = torch.bmm(matrix.flatten(1, 2), x.mT).view(*matrix.shape[:3], -1) + bias
    return rest[0] @ torch.sigmoid(logits) + rest[1] if rest else logits


@torch.no_grad()
def _accuracy(weights: list[Tensor], x: Tensor, y: Tensor, rows: Tensor) -> Tensor:
    return (Fitted(torch.empty(0), weights).predict(x[rows]) == y[rows]).double().mean(1)


def _keep(optimizer: torch.optim.Optimizer, jobs: Tensor) -> None:
    """Leaves out the other jobs: their weights, and what the optimizer remembers of them."""
    for weight, state in optimizer.state.items():
        remembered: list[Any] = [one for one in state.values() if one.shape == weight.shape]
        for one in (*remembered, weight):
            one.data = one.data[jobs]
        weight.grad = None
