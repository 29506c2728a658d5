"""Similarity of arguments (paper 3, appendix B): correlation within each topic, and its mean over the topics."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from isotrope.evaluation.correlation import Correlation, Floats, correlations, similarities_of
from isotrope.evaluation.data.arguments import argument_files, corpus_name, read_arguments
from isotrope.evaluation.data.pairs import Pairs
from isotrope.evaluation.protocols import SentenceEncoder
from isotrope.evaluation.results.resampling import Sample
from isotrope.evaluation.tasks.base import BATCH_SIZE, Figure, Outcome, Task, TaskSpec
from isotrope.evaluation.tasks.graded import check_pairs
from isotrope.evaluation.vectors import Vectors


class ArgumentSimilarity(TaskSpec):
    """AFS or UKP ASPECT, whichever the data folder has."""

    kind: str = "arguments"

    heading = "Argument similarity"
    suites = ("papers", "arguments")
    metrics = ("spearman", "pearson")

    def open(self, data: Path | None = None) -> Task:
        """Pairs of arguments, each under its topic."""
        files = argument_files(data=data)
        return ArgumentTask(self, read_arguments(files), corpus_name(files))


class ArgumentTask(Task):
    """Graded pairs of arguments, by the mean over their topics."""

    def __init__(self, spec: TaskSpec, pairs: Pairs, corpus: str) -> None:
        super().__init__(spec, f"{len(pairs.scores):,} pairs", pairs.sentences)
        self.pairs, self.corpus = pairs, corpus
        check_pairs(pairs, self.name)

    def measure(self, vectors: Vectors, batch_size: int = BATCH_SIZE) -> Outcome:
        """Each topic is resampled by itself."""
        similarities = similarities_of(vectors, self.pairs, batch_size=batch_size)
        found = _arguments(self.corpus, self.pairs, similarities)
        gold, topic = np.array(self.pairs.scores), np.array(self.pairs.subtask)

        def samples(statistic: Literal["spearman", "pearson"]) -> tuple[Sample, ...]:
            rows = (topic == name for name in found.topics)
            return tuple(Sample(statistic, similarities[some], gold[some]) for some in rows)

        return Outcome(
            {
                "spearman": Figure(found.spearman, samples("spearman")),
                "pearson": Figure(found.pearson, samples("pearson")),
            },
            found.as_json(),
        )


@dataclass(frozen=True)
class Arguments:
    """Means over the topics, x 100, and the figures of each topic."""

    corpus: str
    spearman: float
    pearson: float
    topics: dict[str, Correlation]

    def as_json(self) -> dict[str, Any]:
        """`{"corpus": ..., "spearman": ..., "pearson": ..., "pairs": ..., "topics": {...}}`, to two decimals."""
        topics = {
            topic: {"spearman": round(one.spearman, 2), "pearson": round(one.pearson, 2), "pairs": one.pairs}
            for topic, one in self.topics.items()
        }
        figures = {"spearman": round(self.spearman, 2), "pearson": round(self.pearson, 2)}
        pairs = sum(one.pairs for one in self.topics.values())
        return {"corpus": self.corpus, **figures, "pairs": pairs, "topics": topics}


def evaluate_arguments(
    encoder: SentenceEncoder, *, data: Path | None = None, path: Path | None = None, batch_size: int = BATCH_SIZE
) -> Arguments:
    """Correlates cosines with grades in each topic of AFS or UKP ASPECT, in the data folder or at `path`."""
    files = argument_files(data=data, path=path)
    pairs = read_arguments(files)
    return _arguments(corpus_name(files), pairs, similarities_of(encoder, pairs, batch_size=batch_size))


def _arguments(corpus: str, pairs: Pairs, similarities: Floats) -> Arguments:
    found = correlations(pairs, similarities)
    return Arguments(corpus, found.spearman["mean"], found.pearson["mean"], found.subtasks)
