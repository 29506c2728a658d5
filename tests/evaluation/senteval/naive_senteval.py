"""SentEval's rules in plain loops: one classifier after the other, each with a module and an optimizer of its own."""

from __future__ import annotations

import copy

import numpy as np
import torch
from sklearn.model_selection import StratifiedKFold
from torch import Tensor, nn

from isotrope.evaluation.senteval.classifiers import Rows, SentEval


def classifier(
    x: Tensor, y: Tensor, train: Rows, dev: Rows | None, l2: float, settings: SentEval, hidden: int
) -> tuple[float, nn.Sequential, int]:
    """Its best accuracy on the dev rows, the classifier that reached it, and the epochs that were run."""
    random = np.random.RandomState(settings.seed)
    torch.manual_seed(settings.seed)
    dim, classes = x.shape[1], int(y.max()) + 1
    layers = [nn.Linear(dim, hidden), nn.Sigmoid(), nn.Linear(hidden, classes)] if hidden else [nn.Linear(dim, classes)]
    model = nn.Sequential(*layers).to(x.dtype)
    kind = {"adam": torch.optim.Adam, "rmsprop": torch.optim.RMSprop}[settings.optimizer]
    optimizer = kind(model.parameters(), weight_decay=l2)
    if dev is None:
        shuffled = random.permutation(len(train))
        cut = int(0.05 * len(train))
        train, dev = train[shuffled[cut:]], train[shuffled[:cut]]
    best, misses, epochs, best_model = -1.0, 0, 0, model
    while epochs <= settings.max_epoch:
        for _ in range(settings.epoch_size):
            shuffled = random.permutation(len(train))
            for start in range(0, len(train), settings.batch_size):
                rows = train[shuffled[start : start + settings.batch_size]]
                optimizer.zero_grad()
                nn.functional.cross_entropy(model(x[rows]), y[rows]).backward()
                optimizer.step()
        epochs += settings.epoch_size
        accuracy = score(model, x, y, dev)
        if accuracy > best:
            best, best_model = accuracy, copy.deepcopy(model)
        else:
            if misses >= settings.tenacity:
                break
            misses += 1
    return best, best_model, epochs


def score(model: nn.Sequential, x: Tensor, y: Tensor, rows: Rows) -> float:
    return float((model(x[rows]).argmax(1) == y[rows]).double().mean())


def folds(y: Tensor, rows: Rows, settings: SentEval, seed: int) -> list[tuple[Rows, Rows]]:
    stratified = StratifiedKFold(settings.folds, shuffle=True, random_state=seed)
    return [(rows[train], rows[test]) for train, test in stratified.split(rows, y[rows])]


def chosen(
    x: Tensor, y: Tensor, parts: list[tuple[Rows, Rows]], settings: SentEval, hidden: int
) -> tuple[float, float]:
    """Regularisation, and its dev accuracy x 100."""
    best, best_score = 0.0, -1.0
    for l2 in settings.l2:
        accuracies = [classifier(x, y, train, dev, l2, settings, hidden)[0] for train, dev in parts]
        mean = round(100 * float(np.mean(accuracies)), 2)
        if mean > best_score:
            best, best_score = l2, mean
    return best, best_score


def nested(x: Tensor, y: Tensor, rows: Rows, settings: SentEval, hidden: int) -> tuple[float, float]:
    """Accuracy and dev accuracy, x 100."""
    accuracies, devs = [], []
    for train, test in folds(y, rows, settings, 1111):
        l2, dev = chosen(x, y, folds(y, train, settings, 1111), settings, hidden)
        _, model, _ = classifier(x, y, train, None, l2, settings, hidden)
        accuracies.append(score(model, x, y, test))
        devs.append(dev)
    return 100 * float(np.mean(accuracies)), float(np.mean(devs))


def by_folds(x: Tensor, y: Tensor, train: Rows, test: Rows, settings: SentEval, hidden: int) -> tuple[float, float]:
    l2, dev = chosen(x, y, folds(y, train, settings, settings.seed), settings, hidden)
    _, model, _ = classifier(x, y, train, None, l2, settings, hidden)
    return 100 * score(model, x, y, test), dev


def by_dev(
    x: Tensor, y: Tensor, train: Rows, dev: Rows, test: Rows, settings: SentEval, hidden: int
) -> tuple[float, float]:
    l2, accuracy = chosen(x, y, [(train, dev)], settings, hidden)
    _, model, _ = classifier(x, y, train, dev, l2, settings, hidden)
    return 100 * score(model, x, y, test), accuracy
