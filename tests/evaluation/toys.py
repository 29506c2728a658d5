"""A toy encoder, and toy rows for it to learn from."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isotrope.evaluation.data.labelled import Example, Labelled, LabelledSource, load_labelled
from isotrope.evaluation.senteval import protocol
from isotrope.evaluation.senteval.classifiers import PAPER, PROTOTYPING, SentEval
from isotrope.evaluation.tasks import TASKS
from isotrope.evaluation.tasks.transfer import TransferSpec

QUICK = replace(PROTOTYPING, folds=3, batch_size=16, max_epoch=20)
Floats = NDArray[np.floating[Any]]


class Letters:
    """Counts letters: an encoder of any make."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def encode(self, sentences: list[str], *, batch_size: int = 32) -> Floats:
        self.seen += sentences
        return np.array([[text.count(letter) for letter in "abcdefghijklmnop"] for text in sentences], np.float32)


def spec_of(task: str) -> type[TransferSpec]:
    spec = TASKS.resolve(task)
    assert issubclass(spec, TransferSpec)
    return spec


def source_of(task: str) -> LabelledSource:
    return spec_of(task).source


def load_transfer(task: str, *, data: Path | None = None) -> Labelled:
    return load_labelled(source_of(task), data)


def evaluate_transfer(
    encoder: Any,
    task: str,
    *,
    data: Path | Labelled | None = None,
    settings: SentEval = PAPER,
    classifier: Any = "logistic",
) -> protocol.Transfer:
    labelled = data if isinstance(data, Labelled) else load_transfer(task, data=data)
    needed, with_f1 = source_of(task).needed, spec_of(task).with_f1
    return protocol.evaluate_transfer(
        encoder, labelled, needed, settings=settings, classifier=classifier, with_f1=with_f1
    )


def toy(task: str, rows: int = 150) -> Labelled:
    """Rows of every class in every split of a task; a class has a letter that it uses more than others."""
    generator = np.random.default_rng(3)
    names = ["ABBR", "DESC", "HUM"] if task == "trec" else ["0", "1"]
    splits = sorted(set(source_of(task).hub_splits.values()))

    def text(label: int) -> str:
        letters = [*"abcdefgh", *("abc"[label] * 9)]
        return " ".join(generator.choice(letters, generator.integers(2, 9)))

    def example(number: int) -> Example:
        label = int(generator.integers(len(names)))
        texts = tuple(text(label) for _ in source_of(task).columns)
        return Example(splits[number % len(splits)], names[label], texts)

    return Labelled("toy.tsv", [example(number) for number in range(rows)])
