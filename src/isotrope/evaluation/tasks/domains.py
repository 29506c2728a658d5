"""Labels of six domains: does an encoder that was tuned on somebody's own text serve that text better?

Each lies in `domains/NAME/eval.tsv` of a data folder, beside the raw sentences that one would tune on. Three shapes:
texts with a class each, pairs that mean the same or do not, graded pairs. Large ones are sampled, always the same way.
"""

from __future__ import annotations

import random
from abc import abstractmethod
from pathlib import Path
from typing import ClassVar

from isotrope.evaluation.data.labelled import LabelledSource, load_labelled
from isotrope.evaluation.data.pairs import Pairs, PairSource, load_source
from isotrope.evaluation.tasks.base import MAIN, Task, TaskSpec
from isotrope.evaluation.tasks.graded import GradedTask
from isotrope.evaluation.tasks.retrieval import ClassesTask, SamePairsTask
from isotrope.io.errors import IsotropeError

FILE = "domains/{}/eval.tsv"
MOST_TEXTS, MOST_PAIRS = 2000, 4000
SEED = 0  # of the samples


class DomainSpec(TaskSpec):
    """Labels of a domain."""

    split: str = "test"

    heading = "Domains"
    suites = ("domains",)
    metrics = (MAIN,)
    with_interval = True
    how: ClassVar[str]  # it is measured

    def open(self, data: Path | None = None) -> Task:
        """The sample, and a note of what its score is."""
        task = self.sampled(data)
        task.remark = f"{self.name}: {self.how}"
        return task

    @abstractmethod
    def sampled(self, data: Path | None) -> Task:
        """The task without the note."""


class DomainOfClasses(DomainSpec):
    """Texts with a class each."""

    how = "mean average precision of texts of the same class"
    source: ClassVar[LabelledSource]

    def sampled(self, data: Path | None) -> Task:
        """At most 2,000 texts."""
        labelled = load_labelled(self.source, data)
        rows = labelled.part(self.split)
        if not rows:
            there = ", ".join(dict.fromkeys(example.split for example in labelled.examples))
            raise IsotropeError(f"task '{self.name}' has no split '{self.split}'; it has: {there}")
        rows = random.Random(SEED).sample(rows, min(MOST_TEXTS, len(rows)))
        return ClassesTask(self, [row.texts[0] for row in rows], [row.label for row in rows], self.split)


class DomainOfPairs(DomainSpec):
    """Pairs with a score each."""

    source: ClassVar[PairSource]

    def load_pairs(self, data: Path | None = None) -> Pairs:
        """At most 4,000 pairs."""
        pairs = load_source(self.source, data=data, split=self.split)
        count = len(pairs.scores)
        return pairs.rows(random.Random(SEED).sample(range(count), min(MOST_PAIRS, count)))


class DomainOfSamePairs(DomainOfPairs):
    """Pairs that mean the same or do not."""

    how = "average precision of pairs that mean the same"

    def sampled(self, data: Path | None) -> Task:
        """Scores 0 and 1."""
        return SamePairsTask(self, self.load_pairs(data), self.split)


class DomainOfGradedPairs(DomainOfPairs):
    """Graded pairs."""

    how = "Spearman's correlation with the grades of pairs"

    def sampled(self, data: Path | None) -> Task:
        """Scores of any scale."""
        return GradedTask(self, self.load_pairs(data), self.split)


def _labelled(name: str, hub: str = "") -> LabelledSource:
    splits = {"train": "train", "test": "test"}
    return LabelledSource(name, FILE.format(name), hub, splits, splits)


def _pairs(name: str, hub: str = "") -> PairSource:
    return PairSource(name, FILE.format(name), hub)


class Banking77(DomainOfClasses):
    """Questions to a bank, 77 intents (Casanueva et al. 2020)."""

    kind: str = "banking77"

    source = _labelled("banking77", "mteb/banking77")


class StackOverflowTitles(DomainOfClasses):
    """Stack Overflow titles with 20 tags (Xu et al. 2015)."""

    kind: str = "stackoverflow_titles"

    source = _labelled("stackoverflow_titles")


class BiomedTitles(DomainOfClasses):
    """Titles of biomedical papers, 20 topics (Xu et al. 2015)."""

    kind: str = "biomed_titles"

    source = _labelled("biomed_titles")


class Biomedical(DomainOfGradedPairs):
    """BIOSSES: 100 graded pairs of biomedical sentences (Sogancioglu et al. 2017)."""

    kind: str = "biomedical"

    source = _pairs("biomedical", "mteb/biosses-sts")


class PatentPhrase(DomainOfGradedPairs):
    """Graded pairs of patent phrases (Aslanyan & Wetherbee 2022)."""

    kind: str = "patent_phrase"

    source = _pairs("patent_phrase")


class MedicalQuestions(DomainOfSamePairs):
    """Medical questions reworded, and others that only look alike (McCreery et al. 2020)."""

    kind: str = "medical_questions"

    source = _pairs("medical_questions")
