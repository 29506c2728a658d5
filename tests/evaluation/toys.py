"""A toy encoder, and toy rows for it to learn from."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isotrope.evaluation.labelled import Example, Labelled
from isotrope.evaluation.transfer import PROTOTYPING, TRANSFER_TASKS

QUICK = replace(PROTOTYPING, folds=3, batch_size=16, max_epoch=20)
Floats = NDArray[np.floating[Any]]


class Letters:
    """Counts letters: an encoder of any make."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def encode(self, sentences: list[str], *, batch_size: int = 32) -> Floats:
        self.seen += sentences
        return np.array([[text.count(letter) for letter in "abcdefghijklmnop"] for text in sentences], np.float32)


def toy(task: str, rows: int = 150) -> Labelled:
    """Rows of every class in every split of a task; a class has a letter that it uses more than others."""
    generator = np.random.default_rng(3)
    names = ["ABBR", "DESC", "HUM"] if task == "trec" else ["0", "1"]
    splits = sorted(set(TRANSFER_TASKS[task].hub_splits.values()))

    def text(label: int) -> str:
        letters = [*"abcdefgh", *("abc"[label] * 9)]
        return " ".join(generator.choice(letters, generator.integers(2, 9)))

    def example(number: int) -> Example:
        label = int(generator.integers(len(names)))
        texts = tuple(text(label) for _ in TRANSFER_TASKS[task].columns)
        return Example(splits[number % len(splits)], names[label], texts)

    return Labelled("toy.tsv", [example(number) for number in range(rows)])
