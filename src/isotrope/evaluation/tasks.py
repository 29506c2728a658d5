"""Every task behind one face: its test sentences, and what an encoder reaches on it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np

from isotrope.evaluation.arguments import Arguments, argument_files, load_arguments
from isotrope.evaluation.bootstrap import Sample
from isotrope.evaluation.labelled import Example, Labelled
from isotrope.evaluation.pairs import TASKS as GRADED
from isotrope.evaluation.pairs import Pairs, load_task
from isotrope.evaluation.retrieval import Bitext, evaluate_tatoeba, load_tatoeba
from isotrope.evaluation.sts import check_gold, score, similarities_of
from isotrope.evaluation.transfer import (
    PAPER,
    TRANSFER_TASKS,
    Classifier,
    SentEval,
    evaluate_transfer,
    load_transfer,
)
from isotrope.evaluation.vectors import Vectors
from isotrope.io.errors import IsotropeError, nearest

BATCH_SIZE = 64
KNOWN = (*GRADED, "tatoeba", "arguments", *TRANSFER_TASKS)


@dataclass(frozen=True)
class Figure:
    """A figure x 100, and the test items it comes from; without them it can't be resampled."""

    value: float
    samples: tuple[Sample, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """What an encoder reached on a task: a figure for each metric, the task's own first; and all of it as JSON."""

    figures: dict[str, Figure]
    as_json: dict[str, Any]

    @property
    def own(self) -> Figure:
        """The task's own figure."""
        return next(iter(self.figures.values()))


class Task(Protocol):
    """A task whose data are at hand."""

    @property
    def name(self) -> str:
        """As it is asked for: `stsb`, `sts17:track5.en-en`."""

    @property
    def split(self) -> str | None:
        """Which split of its data it tests on, where that can be chosen."""

    @property
    def items(self) -> str:
        """What it tests on: `1,379 pairs`."""

    @property
    def sentences(self) -> list[str]:
        """The distinct test sentences."""

    def measure(self, vectors: Vectors, batch_size: int = BATCH_SIZE) -> Outcome:
        """What the encoder behind the vectors reaches."""


def open_task(
    name: str,
    *,
    data: Path | None = None,
    split: str | None = None,
    settings: SentEval = PAPER,
    classifier: Classifier = "logistic",
) -> Task:
    """Reads a task's data; `MissingDataError` if there are none. `settings` and `classifier` are for transfer tasks."""
    base, _, part = name.partition(":")
    if base not in KNOWN:
        raise IsotropeError(f"unknown task '{base}'{nearest(base, KNOWN)}; choose from {', '.join(KNOWN)}")
    if base in GRADED:
        return PairTask(name, load_task(name, data=data, split=split), split or "test")
    if split:
        raise IsotropeError(f"task '{base}' has no splits to choose from; leave out --split")
    if base == "tatoeba":
        return TatoebaTask(name, load_tatoeba(part, data=data))
    if part:
        raise IsotropeError(f"task '{base}' has no parts such as '{part}'")
    if base == "arguments":
        return ArgumentTask(
            load_arguments(data=data), "AFS" if argument_files(data=data)[0].suffix == ".csv" else "UKP ASPECT"
        )
    return TransferTask(name, load_transfer(name, data=data), settings, classifier)


class _Graded:
    """Pairs that people graded."""

    name: str
    pairs: Pairs

    def __post_init__(self) -> None:
        _check(self.pairs, self.name)

    @property
    def items(self) -> str:
        """`1,379 pairs`."""
        return f"{len(self.pairs.scores):,} pairs"

    @property
    def sentences(self) -> list[str]:
        """Both sides."""
        return list(dict.fromkeys([*self.pairs.sentences1, *self.pairs.sentences2]))


@dataclass(frozen=True)
class PairTask(_Graded):
    """Graded pairs, by Spearman's and Pearson's correlation."""

    name: str
    pairs: Pairs
    split: str

    def measure(self, vectors: Vectors, batch_size: int = BATCH_SIZE) -> Outcome:
        """Over all pairs together, as paper 2 has it."""
        similarities, gold = similarities_of(vectors, self.pairs, batch_size=batch_size), np.array(self.pairs.scores)
        result = score(self.pairs, similarities, split=self.split)
        return Outcome(
            {
                "spearman": Figure(result.spearman["all"], (Sample("spearman", similarities, gold),)),
                "pearson": Figure(result.pearson["all"], (Sample("pearson", similarities, gold),)),
            },
            result.as_json(),
        )

    def parts(self) -> list[PairTask]:
        """A task of its own for each subtask."""
        subtasks = dict.fromkeys(self.pairs.subtask)
        return [PairTask(f"{self.name}:{part}", self.pairs.only(part), self.split) for part in subtasks]


@dataclass(frozen=True)
class ArgumentTask(_Graded):
    """Graded pairs of arguments, by the mean over their topics."""

    pairs: Pairs
    corpus: str
    name: str = "arguments"
    split: None = None

    def measure(self, vectors: Vectors, batch_size: int = BATCH_SIZE) -> Outcome:
        """Each topic is drawn from for itself."""
        similarities, gold = similarities_of(vectors, self.pairs, batch_size=batch_size), np.array(self.pairs.scores)
        result, topic = score(self.pairs, similarities), np.array(self.pairs.subtask)
        found = Arguments(self.corpus, result.spearman["mean"], result.pearson["mean"], result.subtasks)

        def samples(statistic: Literal["spearman", "pearson"]) -> tuple[Sample, ...]:
            rows = (topic == name for name in result.subtasks)
            return tuple(Sample(statistic, similarities[some], gold[some]) for some in rows)

        return Outcome(
            {
                "spearman": Figure(found.spearman, samples("spearman")),
                "pearson": Figure(found.pearson, samples("pearson")),
            },
            found.as_json(),
        )


@dataclass(frozen=True)
class TatoebaTask:
    """Translations among a thousand others, by accuracy both ways, mean over the languages."""

    name: str
    bitexts: Mapping[str, Bitext]
    split: None = None

    @property
    def items(self) -> str:
        """`88,877 pairs`."""
        return f"{sum(len(bitext.texts) for bitext in self.bitexts.values()):,} pairs"

    @property
    def sentences(self) -> list[str]:
        """Both sides."""
        bitexts = self.bitexts.values()
        return list(dict.fromkeys(text for bitext in bitexts for text in (*bitext.texts, *bitext.english)))

    def measure(self, vectors: Vectors, batch_size: int = BATCH_SIZE) -> Outcome:
        """Each pair is an item that counts for both its directions."""
        found = evaluate_tatoeba(vectors, self.bitexts, batch_size=batch_size)
        samples = (Sample("mean", (one.to_english + 1.0 * one.from_english) / 2) for one in found.languages.values())
        return Outcome({"accuracy": Figure(found.accuracy, tuple(samples))}, found.as_json())


@dataclass(frozen=True)
class TransferTask:
    """Classified sentences, by the accuracy of SentEval's classifiers on the vectors."""

    name: str
    labelled: Labelled
    settings: SentEval = PAPER
    classifier: Classifier = "logistic"
    split: None = None

    @property
    def how(self) -> str:
        """The classifier and SentEval's settings, in a few words."""
        kind = "logistic regression" if self.classifier == "logistic" else f"MLP of {self.settings.hidden} units"
        told = self.settings
        return (
            f"{kind}, {told.folds} folds, {told.optimizer}, batch {told.batch_size}, tenacity {told.tenacity}, "
            f"epoch size {told.epoch_size}"
        )

    @property
    def _tested(self) -> list[Example]:
        """A task without splits is tested on all of its rows, fold by fold."""
        return self.labelled.part("test") or self.labelled.examples

    @property
    def items(self) -> str:
        """`10,662 rows`."""
        return f"{len(self._tested):,} rows"

    @property
    def sentences(self) -> list[str]:
        """Of the test rows."""
        return list(dict.fromkeys(text for example in self._tested for text in example.texts))

    def measure(self, vectors: Vectors, batch_size: int = BATCH_SIZE) -> Outcome:
        """The classifiers take longer than the vectors, so that what came out is remembered too."""
        work = repr((self.name, self.settings, self.classifier, self.labelled.examples))
        found = vectors.once(hashlib.blake2b(work.encode(), digest_size=16).hexdigest(), lambda: self._train(vectors))
        correct = np.array([row == "1" for row in found["correct"]], np.float64)
        figures = {"accuracy": Figure(found["accuracy"], (Sample("mean", correct),))}
        return Outcome(figures, found["as_json"])

    def _train(self, vectors: Vectors) -> dict[str, Any]:
        found = evaluate_transfer(
            vectors, self.name, data=self.labelled, settings=self.settings, classifier=self.classifier
        )
        correct = "".join("1" if row else "0" for row in found.correct)
        return {"accuracy": found.accuracy, "as_json": found.as_json(), "correct": correct}


def _check(pairs: Pairs, name: str) -> None:
    """Refuses grades with which nothing can be correlated, before an encoder is loaded."""
    gold, subtask = np.array(pairs.scores), np.array(pairs.subtask)
    for part in dict.fromkeys(pairs.subtask):
        check_gold(gold[subtask == part], name if name.endswith(part) else f"{name}: {part}")
