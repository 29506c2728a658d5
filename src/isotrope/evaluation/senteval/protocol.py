"""SentEval's protocol: what a small classifier can read out of frozen sentence vectors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.metrics import f1_score
from sklearn.model_selection import StratifiedKFold
from torch import Tensor

from isotrope.evaluation.data.labelled import WHOLE, Example, Labelled
from isotrope.evaluation.protocols import SentenceEncoder
from isotrope.evaluation.senteval.classifiers import PAPER, Fitted, Job, Rows, SentEval, fit
from isotrope.io.errors import IsotropeError

Classifier = Literal["logistic", "mlp"]
BATCH_SIZE = 64
NESTED_SEED = 1111  # of the folds of sets without splits, whatever the seed of the classifiers


@dataclass(frozen=True)
class Transfer:
    """Accuracy on the test rows, and on those that chose the regularisation, x 100; for MRPC also F1."""

    accuracy: float
    dev: float
    f1: float | None
    classes: int
    rows: int
    # of each test row, whether its class was found; the rows are in the same order whatever the encoder
    correct: NDArray[np.bool_] = field(repr=False, compare=False)

    def as_json(self) -> dict[str, Any]:
        """`{"accuracy": ..., "dev": ..., "classes": ..., "rows": ...}`, figures to two decimals; `f1` where it is."""
        f1 = {} if self.f1 is None else {"f1": round(self.f1, 2)}
        figures = {"accuracy": round(self.accuracy, 2), **f1, "dev": round(self.dev, 2)}
        return {**figures, "classes": self.classes, "rows": self.rows}


def evaluate_transfer(
    encoder: SentenceEncoder,
    labelled: Labelled,
    splits: Sequence[str],
    *,
    settings: SentEval = PAPER,
    classifier: Classifier = "logistic",
    with_f1: bool = False,
) -> Transfer:
    """SentenceEncoder each distinct sentence once and trains SentEval's classifiers on the vectors.

    Rows without splits are cross-validated, with folds inside each fold that choose the regularisation; with `train`
    and `test`, folds of the training rows choose it; with `dev` too, the dev rows do.
    """
    check_rows(labelled, splits, settings)
    problem = _problem(encoder, labelled, splits, settings, {"logistic": 0, "mlp": settings.hidden}[classifier])
    protocol = _nested if WHOLE in problem.rows else _by_dev if "dev" in problem.rows else _by_folds
    dev, tested = protocol(problem)
    gold = [problem.y[one.rows].numpy() for one in tested]
    correct = [one.predicted == classes for one, classes in zip(tested, gold, strict=True)]
    f1 = f1_score(gold[0], tested[0].predicted) if with_f1 else None
    return Transfer(
        accuracy=100 * float(np.mean([found.mean() for found in correct])),
        dev=dev,
        f1=None if f1 is None else 100 * float(f1),
        classes=len(labelled.classes),
        rows=len(problem.y),
        correct=np.concatenate(correct),
    )


def check_rows(labelled: Labelled, splits: Sequence[str], settings: SentEval) -> None:
    """Refuses rows that the protocol can't be carried out on."""
    within = 2 if WHOLE in splits else 0  # rows of a class that the fold around the inner folds may take
    labelled.check(*splits, each=1 if "dev" in splits else settings.folds + within)


class _Problem(NamedTuple):
    x: Tensor  # (rows, dim)
    y: Tensor  # (rows,), classes 0, 1 ...
    rows: dict[str, Rows]  # of each split
    settings: SentEval
    hidden: int

    def folds(self, rows: Rows, seed: int) -> Iterator[tuple[Rows, Rows]]:
        """Training and held-out rows out of these, fold by fold."""
        folds = StratifiedKFold(self.settings.folds, shuffle=True, random_state=seed)
        for train, held_out in folds.split(rows, self.y[rows]):
            yield rows[train], rows[held_out]

    def fit(self, jobs: Sequence[Job]) -> list[Fitted]:
        return fit(self.x, self.y, jobs, self.settings, self.hidden)


class _Tested(NamedTuple):
    rows: Rows
    predicted: NDArray[np.int64]


def _problem(
    encoder: SentenceEncoder, labelled: Labelled, splits: Sequence[str], settings: SentEval, hidden: int
) -> _Problem:
    """Rows in SentEval's order, by length and class: its folds depend on it."""
    parts = {
        split: sorted(labelled.part(split), key=lambda row: (*(len(text.split()) for text in row.texts), row.label))
        for split in splits
    }
    examples = [example for part in parts.values() for example in part]
    ends = np.cumsum([len(part) for part in parts.values()])
    rows = {split: np.arange(end - len(parts[split]), end) for split, end in zip(parts, ends, strict=True)}
    number = {label: i for i, label in enumerate(labelled.classes)}
    y = torch.tensor([number[example.label] for example in examples])
    return _Problem(_features(encoder, labelled, examples), y, rows, settings, hidden)


def _features(encoder: SentenceEncoder, labelled: Labelled, examples: Sequence[Example]) -> Tensor:
    """What is classified, (rows, features): a sentence's vector u; of a pair, |u - v| beside u * v."""
    place = {sentence: i for i, sentence in enumerate(labelled.sentences)}
    vectors = np.asarray(encoder.encode(list(place), batch_size=BATCH_SIZE), np.float32)
    if not np.isfinite(vectors).all():
        raise IsotropeError(f"{labelled.source}: the encoder gives vectors that are not numbers")
    u, *v = (vectors[[place[text] for text in side]] for side in zip(*(row.texts for row in examples), strict=True))
    return torch.from_numpy(np.hstack([abs(u - v[0]), u * v[0]]) if v else u)


def _nested(problem: _Problem) -> tuple[float, list[_Tested]]:
    """SentEval's InnerKFoldClassifier: every fold is tested once, by a classifier that the others chose and trained."""
    l2 = problem.settings.l2
    outer = list(problem.folds(problem.rows[WHOLE], NESTED_SEED))
    inner = [Job(*fold, l2) for train, _ in outer for fold in problem.folds(train, NESTED_SEED)]
    fitted, size = problem.fit(inner), problem.settings.folds
    chosen = [_choose(fitted[start : start + size], l2) for start in range(0, len(fitted), size)]
    final = problem.fit([Job(train, None, (best,)) for (train, _), (best, _) in zip(outer, chosen, strict=True)])
    tested = [_test(problem, one, rows) for one, (_, rows) in zip(final, outer, strict=True)]
    return float(np.mean([score for _, score in chosen])), tested


def _by_folds(problem: _Problem) -> tuple[float, list[_Tested]]:
    """SentEval's KFoldClassifier: folds of the training rows choose, all of them train."""
    l2, train = problem.settings.l2, problem.rows["train"]
    fitted = problem.fit([Job(*fold, l2) for fold in problem.folds(train, problem.settings.seed)])
    best, score = _choose(fitted, l2)
    (final,) = problem.fit([Job(train, None, (best,))])
    return score, [_test(problem, final, problem.rows["test"])]


def _by_dev(problem: _Problem) -> tuple[float, list[_Tested]]:
    """SentEval's SplitClassifier: dev rows choose among the classifiers and, in each, the moment to stop."""
    l2 = problem.settings.l2
    (fitted,) = problem.fit([Job(problem.rows["train"], problem.rows["dev"], l2)])
    best, score = _choose([fitted], l2)
    chosen = Fitted(fitted.accuracy, [one[[l2.index(best)]] for one in fitted.weights])
    return score, [_test(problem, chosen, problem.rows["test"])]


def _choose(fitted: Sequence[Fitted], l2: Sequence[float]) -> tuple[float, float]:
    """The regularisation with the highest mean dev accuracy, the first of equals, and that accuracy x 100.

    Rounded as in SentEval: a difference that its tables don't show makes no choice.
    """
    scores = [round(100 * float(score), 2) for score in torch.stack([one.accuracy for one in fitted]).mean(0)]
    return l2[scores.index(max(scores))], max(scores)


def _test(problem: _Problem, fitted: Fitted, rows: Rows) -> _Tested:
    return _Tested(rows, fitted.predict(problem.x[rows])[0].numpy())
