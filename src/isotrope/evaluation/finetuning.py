"""Does tuning an encoder harm its supervised fine-tuning? Paper 1, appendix A.4: five tasks of GLUE.

GLUE keeps its test labels to itself. So the first tenth of its validation set chooses the epoch and the rest is what is
tested on. Two sets at hand are not quite GLUE's: a file of MRPC has the split `test`, which then stands for the
validation set; and where there is only the validation set of QNLI, every second row of it is trained on.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import accuracy_score, f1_score, matthews_corrcoef
from transformers import (
    AutoModelForSequenceClassification,
    DataCollatorWithPadding,
    Trainer,
    TrainerCallback,
    TrainerControl,
    TrainerState,
    TrainingArguments,
    set_seed,
)
from transformers.trainer_callback import PrinterCallback

from isotrope.encoders import Encoder
from isotrope.encoders.quiet import quiet_transformers
from isotrope.evaluation.labelled import WHOLE, Example, Labelled, LabelledTask, labelled_file, load_labelled
from isotrope.io.errors import IsotropeError, nearest

_HUB = {"train": "train", "validation": "dev"}
_FILE = {"train": "train", "dev": "dev"}
_PAIR = ("sentence1", "sentence2")
_SENTENCE = {"text": "sentence"}

GLUE_TASKS: dict[str, LabelledTask] = {
    name: LabelledTask(name, file, "nyu-mll/glue", _HUB, splits, columns, name, hub_names)
    for name, file, splits, columns, hub_names in (
        ("qnli", "glue/qnli.tsv", _FILE, ("question", "sentence"), {}),
        ("sst2", "transfer/sst2_sentences.tsv", _FILE, ("text",), _SENTENCE),
        (
            "cola",
            "glue/cola.tsv",
            {"train": "train", "in_domain_dev": "dev", "out_of_domain_dev": "dev"},
            ("text",),
            _SENTENCE,
        ),
        ("mrpc", "transfer/mrpc.tsv", {"train": "train", "test": "dev"}, _PAIR, {}),
        ("rte", "glue/rte.tsv", _FILE, _PAIR, {}),
    )
}
QNLI_DEV = LabelledTask("qnli", "glue/qnli_dev.tsv", "", {}, columns=("question", "sentence"))

Metric = Callable[[Any, Any], float]
METRICS: dict[str, dict[str, Metric]] = {  # as GLUE has them; the first is a task's own
    "cola": {"matthews": matthews_corrcoef, "accuracy": accuracy_score},
    "mrpc": {"f1": f1_score, "accuracy": accuracy_score},
}
ACCURACY: dict[str, Metric] = {"accuracy": accuracy_score}


@dataclass(frozen=True)
class FineTuned:
    """Figures on the test rows, x 100, the task's own first; on the dev rows, the highest of any epoch."""

    task: str
    seed: int
    test: dict[str, float]
    dev: float
    rows: dict[str, int]  # of train, dev and test

    @property
    def score(self) -> float:
        """The task's own figure: Matthews' correlation for CoLA, F1 for MRPC, else accuracy."""
        return next(iter(self.test.values()))

    def as_json(self) -> dict[str, Any]:
        """`{"seed": ..., "test": {"accuracy": ...}, "dev": ..., "rows": {...}}`, figures to two decimals."""
        test = {name: round(figure, 2) for name, figure in self.test.items()}
        return {"seed": self.seed, "test": test, "dev": round(self.dev, 2), "rows": self.rows}


class Glue(NamedTuple):
    """The rows of a task as paper 1 divides them; `note` says what is not as in the paper."""

    classes: list[str]
    train: list[Example]
    dev: list[Example]
    test: list[Example]
    note: str


def load_glue(task: str, *, data: Path | None = None) -> Glue:
    """The rows of a task: from the folder `data` (else `ISOTROPE_DATA`) where its file is there, else from the Hub."""
    if task not in GLUE_TASKS:
        known = ", ".join(GLUE_TASKS)
        raise IsotropeError(f"unknown GLUE task '{task}'{nearest(task, GLUE_TASKS)}; choose from {known}")
    wanted = GLUE_TASKS[task]
    if task == "qnli" and not labelled_file(wanted, data) and labelled_file(QNLI_DEV, data):
        return _divide(*_halves(load_labelled(QNLI_DEV, data)))
    note = ""
    if task == "mrpc" and labelled_file(wanted, data):
        note = "the file has no validation set of GLUE's; its split 'test' stands for it"
    return _divide(load_labelled(wanted, data), note)


def fine_tune(
    encoder: Encoder,
    task: str,
    *,
    data: Path | Glue | None = None,
    seed: int = 1,
    epochs: int = 3,
    learning_rate: float = 2e-5,
    batch_size: int = 32,
    limit: int | None = None,
    stepped: Callable[[int, int], None] = lambda done, steps: None,
) -> FineTuned:
    """Trains a copy of the encoder's backbone under a new classification head; the encoder itself stays as it is.

    `data` is a folder, or rows already loaded; `limit` is for trying out: so many rows of each split; `stepped` hears
    of each step.
    """
    glue = data if isinstance(data, Glue) else load_glue(task, data=data)
    parts = [part[:limit] for part in (glue.train, glue.dev, glue.test)]
    train, dev, test = (_tokens(encoder, part, glue.classes) for part in parts)
    metrics = METRICS.get(task, ACCURACY)
    set_seed(seed)
    with quiet_transformers(), TemporaryDirectory(prefix="isotrope-") as folder:
        trainer = Trainer(
            model=_classifier(encoder, len(glue.classes)),
            args=_arguments(
                folder,
                next(iter(metrics)),
                num_train_epochs=epochs,
                learning_rate=learning_rate,
                per_device_train_batch_size=batch_size,
                seed=seed,
                use_cpu=encoder.device.type == "cpu",
            ),
            train_dataset=train,
            eval_dataset=dev,
            data_collator=DataCollatorWithPadding(encoder.tokenizer),
            compute_metrics=lambda found: _figures(metrics, found.label_ids, found.predictions),
            callbacks=[_Steps(stepped)],
        )
        trainer.pop_callback(PrinterCallback)
        trainer.train()
        found = trainer.predict(test)
    return FineTuned(
        task=task,
        seed=seed,
        test=_figures(metrics, found.label_ids, found.predictions),
        dev=trainer.state.best_metric,
        rows=dict(zip(("train", "dev", "test"), map(len, parts), strict=True)),
    )


def _halves(labelled: Labelled) -> tuple[Labelled, str]:
    """A validation set alone, of which every second row is for training."""
    examples = [row._replace(split="dev" if i % 2 else "train") for i, row in enumerate(labelled.part(WHOLE))]
    note = f"{labelled.source} has no training rows: every second one is trained on, so that the figure is no other's"
    return Labelled(labelled.source, examples), note


def _divide(labelled: Labelled, note: str) -> Glue:
    labelled.check("train", "dev")
    validation = labelled.part("dev")
    if len(validation) < 10:
        raise IsotropeError(f"{labelled.source}: {len(validation)} validation rows; a tenth of them needs 10 or more")
    cut = len(validation) // 10
    return Glue(labelled.classes, labelled.part("train"), validation[:cut], validation[cut:], note)


def _tokens(encoder: Encoder, examples: Sequence[Example], classes: Sequence[str]) -> list[dict[str, Any]]:
    """What a model of transformers is called with, for each row."""
    sides = [list(side) for side in zip(*(example.texts for example in examples), strict=True)]
    encoded = encoder.tokenizer(*sides, truncation=True, max_length=encoder.max_seq_length)
    labels = [classes.index(example.label) for example in examples]
    return [{**{key: encoded[key][i] for key in encoded}, "labels": label} for i, label in enumerate(labels)]


def _classifier(encoder: Encoder, classes: int) -> Any:
    """transformers' own classifier of such a model; its head is new, and so is a pooler that the encoder has not."""
    config = copy.deepcopy(encoder.backbone.config)
    config.num_labels = classes
    try:
        model: Any = AutoModelForSequenceClassification.from_config(config)
    except ValueError as error:
        kind = type(encoder.backbone.model).__name__
        raise IsotropeError(f"'{encoder.name}': transformers has no classifier on top of a {kind}") from error
    getattr(model, model.base_model_prefix).load_state_dict(encoder.backbone.model.state_dict(), strict=False)
    return model.float()


def _arguments(folder: str, metric: str, **options: Any) -> Any:
    return TrainingArguments(
        output_dir=folder,
        eval_strategy="epoch",
        save_strategy="epoch",
        save_total_limit=1,
        save_only_model=True,
        load_best_model_at_end=True,
        metric_for_best_model=metric,
        greater_is_better=True,
        logging_strategy="no",
        report_to="none",
        disable_tqdm=True,
        **options,
    )


def _figures(metrics: dict[str, Metric], gold: Any, logits: Any) -> dict[str, float]:
    return {name: 100 * float(metric(gold, np.argmax(logits, axis=1))) for name, metric in metrics.items()}


class _Steps(TrainerCallback):  # type: ignore[misc]
    def __init__(self, stepped: Callable[[int, int], None]) -> None:
        self.stepped = stepped

    def on_step_end(self, args: Any, state: TrainerState, control: TrainerControl, **kwargs: Any) -> None:
        self.stepped(state.global_step, state.max_steps)
