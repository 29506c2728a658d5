"""SentEval's protocols: against scikit-learn, and against plain loops."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import StratifiedKFold

import isotrope
from isotrope.evaluation.data.labelled import WHOLE, Example, Labelled
from isotrope.evaluation.senteval.classifiers import PAPER
from isotrope.evaluation.senteval.protocol import Transfer
from isotrope.io.errors import IsotropeError

from ..toys import QUICK, Floats, Letters, evaluate_transfer, load_transfer, toy
from . import naive_senteval as naive


class Once:
    """An encoder that encodes no sentence twice."""

    def __init__(self, encoder: isotrope.Encoder) -> None:
        self.encoder, self.known = encoder, dict[str, Floats]()

    def encode(self, sentences: list[str], *, batch_size: int = 32) -> Floats:
        new = [text for text in dict.fromkeys(sentences) if text not in self.known]
        self.known.update(zip(new, self.encoder.encode(new, batch_size=batch_size), strict=True))
        return np.stack([self.known[text] for text in sentences])


# -- against scikit-learn ---------------------------------------------------------------------------------------------


def regression(x: Floats, y: Floats, regs: Sequence[float]) -> LogisticRegression:
    """The logistic regression that three folds of these rows choose."""
    scores = []
    for reg in regs:
        found = [
            LogisticRegression(C=reg, max_iter=1000).fit(x[train], y[train]).score(x[held_out], y[held_out])
            for train, held_out in StratifiedKFold(3, shuffle=True, random_state=1111).split(x, y)
        ]
        scores.append(np.mean(found))
    return LogisticRegression(C=regs[int(np.argmax(scores))], max_iter=1000).fit(x, y)


# On few rows SentEval's own tenacity ends training before a classifier of vectors as short as MiniLM's has learnt much.
PATIENT = replace(PAPER, folds=3, tenacity=20)


def short(data: Path, task: str, most: int) -> Labelled:
    """Rows of so many words at most: they encode faster."""
    everything = load_transfer(task, data=data)
    rows = [row for row in everything.examples if all(len(text.split()) <= most for text in row.texts)]
    return Labelled(everything.source, rows)


def test_mr_agrees_with_scikit_learn(shared_data: Path, minilm: isotrope.Encoder) -> None:
    """Within two standard errors on 963 rows: same vectors, same folds, another solver, SentEval's other grid."""
    labelled = short(shared_data, "mr", 8)
    encoder = Once(minilm)
    result = evaluate_transfer(encoder, "mr", data=labelled, settings=PATIENT)
    rows = sorted(labelled.examples, key=lambda row: (len(row.texts[0].split()), row.label))
    x, y = encoder.encode([row.texts[0] for row in rows]), np.array([int(row.label) for row in rows])
    accuracy = [
        regression(x[train], y[train], [2.0**t for t in range(-2, 4)]).score(x[test], y[test])
        for train, test in StratifiedKFold(3, shuffle=True, random_state=1111).split(x, y)
    ]
    assert result.accuracy == pytest.approx(100 * np.mean(accuracy), abs=2.7)
    assert result.accuracy > 75
    assert (result.classes, result.rows, result.f1) == (2, 963, None)


def test_mrpc_agrees_with_scikit_learn(shared_data: Path, minilm: isotrope.Encoder) -> None:
    """Within one standard error on 214 test pairs."""
    labelled = short(shared_data, "mrpc", 16)
    encoder = Once(minilm)
    result = evaluate_transfer(encoder, "mrpc", data=labelled, settings=PATIENT)

    def features(split: str) -> tuple[Floats, Floats]:
        rows = labelled.part(split)
        u, v = (encoder.encode([row.texts[side] for row in rows]) for side in (0, 1))
        return np.hstack([abs(u - v), u * v]), np.array([int(row.label) for row in rows])

    test, classes = features("test")
    model = regression(*features("train"), [2.0**t for t in range(-1, 6)])
    assert result.accuracy == pytest.approx(100 * model.score(test, classes), abs=3)
    assert result.f1 == pytest.approx(100 * f1_score(classes, model.predict(test)), abs=3)
    assert result.accuracy > 100 * classes.mean() + 3  # more than to call every pair a paraphrase
    assert result.rows == 666


# -- SentEval's three protocols, in plain loops -----------------------------------------------------------------------


@pytest.mark.parametrize("classifier", ["logistic", "mlp"])
@pytest.mark.parametrize("task", ["cr", "trec", "sst2", "mrpc"])
def test_a_protocol_is_that_of_plain_loops(task: str, classifier: Any) -> None:
    settings = replace(QUICK, hidden=5, l2=(1e-4, 1e-1), seed=7)
    labelled = toy(task)
    result = evaluate_transfer(Letters(), task, data=labelled, settings=settings, classifier=classifier)
    examples = sorted(labelled.examples, key=lambda row: (*(len(text.split()) for text in row.texts), row.label))
    sides = [
        torch.from_numpy(Letters().encode(list(side))) for side in zip(*(row.texts for row in examples), strict=True)
    ]
    x = sides[0] if len(sides) == 1 else torch.hstack([(sides[0] - sides[1]).abs(), sides[0] * sides[1]])
    y = torch.tensor([labelled.classes.index(row.label) for row in examples])
    rows = {
        split: np.array([i for i, row in enumerate(examples) if row.split == split])
        for split in ("all", "train", "dev", "test")
    }
    hidden = 5 if classifier == "mlp" else 0
    if task == "cr":
        accuracy, dev = naive.nested(x, y, rows["all"], settings, hidden)
    elif task == "sst2":
        accuracy, dev = naive.by_dev(x, y, rows["train"], rows["dev"], rows["test"], settings, hidden)
    else:
        accuracy, dev = naive.by_folds(x, y, rows["train"], rows["test"], settings, hidden)
    assert (result.accuracy, result.dev) == (pytest.approx(accuracy, abs=1e-9), pytest.approx(dev, abs=1e-9))
    assert result.correct.mean() == pytest.approx(accuracy / 100, abs=0.01)  # folds differ by a row
    assert accuracy > 100 * max(Counter(row.label for row in examples).values()) / len(examples)


# -- what comes out ---------------------------------------------------------------------------------------------------


def test_each_distinct_sentence_is_encoded_once() -> None:
    encoder, labelled = Letters(), toy("mrpc")
    evaluate_transfer(encoder, "mrpc", data=labelled, settings=QUICK)
    assert sorted(encoder.seen) == sorted({text for row in labelled.examples for text in row.texts})


def test_as_json_is_plain_and_rounded() -> None:
    right = np.array([True, False])
    plain = Transfer(76.1249, 77.0, None, 2, 90, right).as_json()
    assert plain == {"accuracy": 76.12, "dev": 77.0, "classes": 2, "rows": 90}
    shown = Transfer(76.126, 77.0, 81.239, 2, 90, right).as_json()
    assert shown == {"accuracy": 76.13, "f1": 81.24, "dev": 77.0, "classes": 2, "rows": 90}
    json.dumps(shown)


def test_as_few_rows_of_a_class_as_folds_allow(recwarn: pytest.WarningsRecorder) -> None:
    few = [Example(WHOLE, "1", ("a" * i,)) for i in range(1, 6)] + [
        Example(WHOLE, "0", ("b" * i,)) for i in range(1, 31)
    ]
    assert evaluate_transfer(Letters(), "cr", data=Labelled("few", few), settings=QUICK).rows == 35
    assert not recwarn


def test_vectors_that_are_not_numbers() -> None:
    class Broken:
        def encode(self, sentences: list[str], *, batch_size: int = 32) -> Floats:
            return np.full((len(sentences), 3), np.nan, np.float32)

    with pytest.raises(IsotropeError, match=r"toy\.tsv: the encoder gives vectors that are not numbers"):
        evaluate_transfer(Broken(), "cr", data=toy("cr"), settings=QUICK)
