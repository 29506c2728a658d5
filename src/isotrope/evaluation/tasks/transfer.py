"""Transfer tasks: classified sentences, by the accuracy of SentEval's classifiers on frozen vectors."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from statistics import mean, stdev
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from isotrope.evaluation.data.labelled import WHOLE, Labelled, LabelledSource, load_labelled
from isotrope.evaluation.results.resampling import Sample
from isotrope.evaluation.senteval.classifiers import PAPER, PROTOTYPING, SentEval
from isotrope.evaluation.senteval.protocol import Classifier, check_rows, evaluate_transfer
from isotrope.evaluation.tasks.base import BATCH_SIZE, Figure, Outcome, Task, TaskSpec
from isotrope.evaluation.vectors import Vectors
from isotrope.io.hashes import digest

ANY = dict.fromkeys(("train", "validation", "test"), WHOLE)
TRAIN_TEST = {"train": "train", "test": "test"}


class TransferSpec(TaskSpec):
    """Classified sentences; a task says where its own lie."""

    classifier: Classifier = "logistic"  # as the text of paper 1 has it; "mlp", with 50 units, is that of its Table 9
    prototyping: bool = False  # SentEval's quick settings instead of the papers'
    seeds: tuple[int, ...] = Field(default=(PAPER.seed,), min_length=1)  # of the classifiers; the figure is their mean

    heading = "Transfer"
    suites = ("papers", "transfer")
    metrics = ("accuracy",)
    source: ClassVar[LabelledSource]
    with_f1: ClassVar[bool] = False

    @property
    def senteval(self) -> SentEval:
        """The settings of the classifiers."""
        return PROTOTYPING if self.prototyping else PAPER

    def open(self, data: Path | None = None) -> Task:
        """The rows, which must suffice for the folds."""
        return TransferTask(self, load_labelled(self.source, data))


class TransferTask(Task):
    """Classified sentences, or pairs of them."""

    def __init__(self, spec: TransferSpec, labelled: Labelled) -> None:
        tested = labelled.part("test") or labelled.examples  # without splits every row is tested, fold by fold
        super().__init__(spec, f"{len(tested):,} rows", (text for example in tested for text in example.texts))
        self.spec, self.labelled = spec, labelled
        self.remark = f"Transfer tasks: {_how(spec)}"
        check_rows(labelled, spec.source.needed, spec.senteval)

    def measure(self, vectors: Vectors, batch_size: int = BATCH_SIZE) -> Outcome:
        """The classifiers take longer than the vectors, so their results are cached too."""
        found = [self._of_seed(vectors, replace(self.spec.senteval, seed=seed)) for seed in self.spec.seeds]
        correct = np.array([[row == "1" for row in one["correct"]] for one in found], np.float64).mean(0)
        accuracies = [one["accuracy"] for one in found]
        figures = {"accuracy": Figure(mean(accuracies), (Sample("mean", correct),))}
        if len(found) == 1:
            return Outcome(figures, found[0]["as_json"])
        means = {"accuracy": round(mean(accuracies), 2), "deviation": round(stdev(accuracies), 2)}
        runs = {str(seed): one["as_json"] for seed, one in zip(self.spec.seeds, found, strict=True)}
        return Outcome(figures, {**means, "seeds": runs})

    def _of_seed(self, vectors: Vectors, settings: SentEval) -> dict[str, Any]:
        work = repr((self.name, settings, self.spec.classifier, self.labelled.examples))
        return vectors.once(digest(work).hex(), lambda: self._train(vectors, settings))

    def _train(self, vectors: Vectors, settings: SentEval) -> dict[str, Any]:
        found = evaluate_transfer(
            vectors,
            self.labelled,
            self.spec.source.needed,
            settings=settings,
            classifier=self.spec.classifier,
            with_f1=self.spec.with_f1,
        )
        correct = "".join("1" if row else "0" for row in found.correct)
        return {"accuracy": found.accuracy, "as_json": found.as_json(), "correct": correct}


def _how(spec: TransferSpec) -> str:
    """The classifier and SentEval's settings, in a few words."""
    used = spec.senteval
    classifier = {"logistic": "logistic regression", "mlp": f"MLP of {used.hidden} units"}[spec.classifier]
    seeds = f", mean of {len(spec.seeds)} seeds" if len(spec.seeds) > 1 else ""
    return (
        f"{classifier}, {used.folds} folds, {used.optimizer}, batch {used.batch_size}, tenacity {used.tenacity}, "
        f"epoch size {used.epoch_size}{seeds}"
    )


class MovieReviews(TransferSpec):
    """MR: positive or negative film reviews (Pang & Lee 2005)."""

    kind: str = "mr"

    source = LabelledSource("mr", "transfer/mr.tsv", "cornell-movie-review-data/rotten_tomatoes", ANY)


class CustomerReviews(TransferSpec):
    """CR: positive or negative product reviews (Hu & Liu 2004)."""

    kind: str = "cr"

    source = LabelledSource("cr", "transfer/cr.tsv", "SetFit/SentEval-CR", ANY)


class Subjectivity(TransferSpec):
    """SUBJ: subjective or objective (Pang & Lee 2004)."""

    kind: str = "subj"

    source = LabelledSource("subj", "transfer/subj.tsv", "SetFit/subj", ANY)


class OpinionPolarity(TransferSpec):
    """MPQA: polarity of phrases (Wiebe et al. 2005)."""

    kind: str = "mpqa"

    source = LabelledSource(
        "mpqa",
        "transfer/mpqa.tsv",
        "jxm/mpqa",
        {"train": WHOLE, "test": WHOLE},  # its split `dev` repeats rows of `train`
        hub_names={"text": "sentence"},
    )


class SST2(TransferSpec):
    """SST-2: whole sentences of the Stanford Sentiment Treebank (Socher et al. 2013)."""

    kind: str = "sst2"

    source = LabelledSource(
        "sst2",
        "transfer/sst2_sentences.tsv",
        "SetFit/sst2",
        {**TRAIN_TEST, "validation": "dev"},
        splits={**TRAIN_TEST, "dev": "dev"},
    )


class TREC(TransferSpec):
    """TREC: six types of questions (Voorhees & Tice 2000)."""

    kind: str = "trec"

    source = LabelledSource(
        "trec", "transfer/trec.tsv", "SetFit/TREC-QC", TRAIN_TEST, TRAIN_TEST, hub_names={"label": "label_coarse"}
    )


class MRPC(TransferSpec):
    """MRPC: whether two sentences paraphrase each other (Dolan et al. 2004)."""

    kind: str = "mrpc"

    with_f1 = True
    source = LabelledSource(
        "mrpc",
        "transfer/mrpc.tsv",
        "nyu-mll/glue",
        {**TRAIN_TEST, "validation": "train"},  # GLUE took its validation pairs out of the training pairs
        TRAIN_TEST,
        columns=("sentence1", "sentence2"),
        config="mrpc",
    )
