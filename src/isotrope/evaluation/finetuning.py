"""Does tuning an encoder harm its supervised fine-tuning? Paper 1, appendix A.4: five tasks of GLUE."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, stdev
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from rich.table import Table
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
from isotrope.encoders.precision import dtype_of
from isotrope.encoders.quiet import quiet_transformers
from isotrope.evaluation.data.glue import Glue, load_glue
from isotrope.evaluation.data.labelled import Example
from isotrope.evaluation.models import Model, check_models, model_name, open_transformer
from isotrope.evaluation.protocols import SILENT, Display
from isotrope.evaluation.results.printing import Printable
from isotrope.io.errors import IsotropeError
from isotrope.io.seeds import check_seed

Metric = Callable[[Any, Any], float]
METRICS: dict[str, dict[str, Metric]] = {  # as GLUE has them; the first is a task's own
    "cola": {"matthews": matthews_corrcoef, "accuracy": accuracy_score},
    "mrpc": {"f1": f1_score, "accuracy": accuracy_score},
}
ACCURACY: dict[str, Metric] = {"accuracy": accuracy_score}


def finetune(
    model: Model,
    task: str,
    *,
    data: str | Path | None = None,
    seeds: Iterable[int] = (1,),
    epochs: int = 3,
    learning_rate: float = 2e-5,
    batch_size: int = 32,
    limit: int | None = None,
    device: str | None = None,
    precision: str = "float32",
    display: Display = SILENT,
) -> FineTuning:
    """Fine-tunes copies of a model on a task of GLUE; the model itself stays as it is.

    Args:
        model: A name, a model folder, the folder of a run, an `Encoder` or a `SentenceTransformer`.
        task: `qnli`, `sst2`, `cola`, `mrpc` or `rte`.
        data: Folder of data sets; by default `$ISOTROPE_DATA`, else the Hugging Face Hub.
        seeds: One run for each.
        epochs: Passes over the training rows.
        learning_rate: Falls to 0 over the run.
        batch_size: Training rows at a time.
        limit: Only so many rows of each split, to try it out.
        device: `cpu`, `cuda`, `cuda:1`, `mps` ...; by default the fastest there is.
        precision: What is computed in: `float32`, `bfloat16` or `float16`.
        display: Shows progress; by default nothing is shown.

    Returns:
        The figures of each run. The first tenth of the validation set chooses the epoch, the rest is tested on.

    Example: `finetune("bundled", "rte", seeds=(1, 2, 3), data="data")`
    """
    with display.waiting(f"Reading {task}"):
        glue = load_glue(task, data=Path(data) if data else None)
    check_models([model])
    with display.waiting(f"Loading {model_name(model)}"):
        encoder = open_transformer(model, device=device)
    options: dict[str, Any] = {
        "epochs": epochs,
        "learning_rate": learning_rate,
        "batch_size": batch_size,
        "limit": limit,
        "precision": precision,
    }
    seeds, runs = list(seeds), []
    for seed in seeds:
        check_seed(seed)
    with display.counting(task, len(seeds)) as advance:
        for seed in seeds:

            def stepped(done: int, steps: int, seed: int = seed) -> None:
                advance(0, f"{task}, seed {seed}: step {done:,} of {steps:,}")

            runs.append(fine_tune(encoder, task, data=glue, seed=seed, stepped=stepped, **options))
            advance(1)
    return FineTuning(model_name(model), task, runs, glue.note)


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


@dataclass(frozen=True, repr=False)
class FineTuning(Printable):
    """A model on a task, under several seeds; `note` says what is not as in the paper."""

    model: str
    task: str
    runs: Sequence[FineTuned]
    note: str = ""

    def parts(self) -> Iterator[Table | str]:
        """A row for each seed, and their mean."""
        rows = ", ".join(f"{split} {rows:,}" for split, rows in self.runs[0].rows.items())
        yield f"{self.model} on {self.task}, x 100 ({rows} rows)"
        table = Table("Seed")
        for name in (*self.runs[0].test, "dev"):
            table.add_column(name, justify="right")
        figures = [[*run.test.values(), run.dev] for run in self.runs]
        for run, line in zip(self.runs, figures, strict=True):
            table.add_row(str(run.seed), *(f"{figure:.2f}" for figure in line))
        if len(self.runs) > 1:
            table.add_section()
            columns = zip(*figures, strict=True)
            table.add_row("mean ± sd", *(f"[bold]{mean(column):.2f}[/] ± {stdev(column):.2f}" for column in columns))
        yield table

    def as_dict(self) -> dict[str, Any]:
        """Figures to two decimals."""
        scores = [run.score for run in self.runs]
        spread = {"deviation": round(stdev(scores), 2)} if len(scores) > 1 else {}
        found = {"metric": next(iter(self.runs[0].test)), "mean": round(mean(scores), 2), **spread}
        note = {"note": self.note} if self.note else {}
        return {"model": self.model, "task": self.task, **found, **note, "runs": [run.as_json() for run in self.runs]}


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
    precision: str = "float32",
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
                bf16=dtype_of(precision) == torch.bfloat16,
                fp16=dtype_of(precision) == torch.float16,
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
