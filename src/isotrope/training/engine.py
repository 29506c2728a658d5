"""The engine: `transformers.Trainer` runs the learner.

Resume, mixed precision, gradient accumulation, loggers and several processes are the trainer's own.
"""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_model
from torch import Tensor
from torch.utils.data import DataLoader, SequentialSampler
from transformers import (
    EarlyStoppingCallback,
    Trainer,
    TrainerCallback,
    TrainerControl,
    TrainerState,
    TrainingArguments,
)
from transformers.trainer_callback import PrinterCallback

from isotrope.encoders.loading import default_device
from isotrope.errors import IsotropeError
from isotrope.recipes.schema import Training
from isotrope.training.bar import RunBar
from isotrope.training.batches import StageBatches
from isotrope.training.checkpoints import last_checkpoint
from isotrope.training.learner import Learner
from isotrope.training.watch import Watch

LOG = "log.jsonl"


class Engine(Trainer):  # type: ignore[misc]
    """Runs one stage. Batches come as planned; the watch measures; the best or the last checkpoint is what remains."""

    def __init__(self, learner: Learner, batches: StageBatches, watch: Watch, run: Path, bar: RunBar) -> None:
        training = learner.stage.training
        callbacks: list[TrainerCallback] = [AfterStep(), LogFile(run / LOG), bar]
        if watch.score is not None and training.patience:
            callbacks.append(EarlyStoppingCallback(early_stopping_patience=training.patience))
        super().__init__(
            model=learner,
            args=arguments(training, run, steps=len(batches), scored=watch.score is not None),
            train_dataset=batches,
            eval_dataset=batches,  # asked for by the trainer; `evaluate` looks at what the watch holds
            data_collator=lambda items: items[0],
            callbacks=callbacks,
        )
        self.pop_callback(PrinterCallback)
        self.learner, self.watch, self.run, self.bar = learner, watch, run, bar
        self.parts: dict[str, list[float]] = {}
        self.tokens = self.places = 0

    def get_train_dataloader(self) -> DataLoader[Any]:
        """One planned batch after the other. Not sharded: each process has its share of every batch already."""
        assert self.train_dataset is not None
        sampler = SequentialSampler(self.train_dataset)
        return DataLoader(self.train_dataset, batch_size=1, sampler=sampler, collate_fn=self.data_collator)

    def create_optimizer(self, *args: Any, **kwargs: Any) -> torch.optim.Optimizer:
        """Adam or AdamW. Weight decay is for matrices: biases, norms and the temperature are exempt."""
        if self.optimizer is None:
            training = self.learner.stage.training
            learning = [parameter for parameter in self.learner.parameters() if parameter.requires_grad]
            groups = [
                {"params": [p for p in learning if p.dim() > 1], "weight_decay": training.weight_decay},
                {"params": [p for p in learning if p.dim() <= 1], "weight_decay": 0.0},
            ]
            kind = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[training.optimiser]
            self.optimizer = kind(groups, lr=training.learning_rate, betas=training.betas, eps=training.epsilon)
        optimizer: torch.optim.Optimizer = self.optimizer
        return optimizer

    def _prepare_inputs(self, inputs: dict[str, Any]) -> dict[str, Any]:
        return {name: value.to(self.args.device) for name, value in inputs.items()}

    def compute_loss(self, model: Any, inputs: Any, return_outputs: bool = False, **kwargs: Any) -> Any:
        """The learner's loss. A loss that is no number ends the run before it can spoil a checkpoint."""
        parts: dict[str, Tensor] = model(**inputs)
        loss = parts["loss"]
        if not math.isfinite(float(loss.detach())):
            kept = last_checkpoint(self.run)
            raise IsotropeError(
                f"the loss became {float(loss.detach())} at step {self.state.global_step + 1}; "
                f"the last good checkpoint is {kept.name if kept else 'none'}; "
                "lower training.learning_rate or raise objective.temperature"
            )
        for name, part in parts.items():
            if name != "loss" and len(parts) > 2:
                self.parts.setdefault(name, []).append(float(part))
        for batch in {id(value): value for value in inputs.values() if hasattr(value, "token_index")}.values():
            self.tokens += batch.token_index.numel()
            self.places += batch.input_ids.numel()
        self.bar.tokens = self.tokens
        return (loss, parts) if return_outputs else loss

    def log(self, logs: dict[str, float], *args: Any, **kwargs: Any) -> None:
        """Adds the parts of the loss since the last line, the temperature where it learns, and the share of padding."""
        if "loss" in logs:
            logs.update({name: sum(found) / len(found) for name, found in self.parts.items()})
            self.parts.clear()
            if self.learner.temperature.log.requires_grad:
                logs["temperature"] = float(self.learner.temperature.log.detach().exp())
            logs["padding"] = 1 - self.tokens / max(self.places, 1)
        super().log(logs, *args, **kwargs)

    def evaluate(self, *args: Any, **kwargs: Any) -> dict[str, float]:
        """The watch's figures, under the names that choose the best checkpoint."""
        figures = self.watch.figures(self.learner)
        warning = self.watch.collapse(figures)
        if warning:
            self.bar.say(f"step {self.state.global_step}: {warning}")
        metrics = {f"eval_{name}": value for name, value in figures.items()}
        self.log(dict(metrics))
        self.control: TrainerControl = self.callback_handler.on_evaluate(self.args, self.state, self.control, metrics)
        return metrics

    def _save(self, output_dir: str | None = None, state_dict: Any = None) -> None:
        """Tied weights (a masked LM's) are written once."""
        folder = Path(output_dir or self.args.output_dir)
        folder.mkdir(parents=True, exist_ok=True)
        save_model(self.learner, str(folder / "model.safetensors"))

    def _save_checkpoint(self, *args: Any, **kwargs: Any) -> None:
        try:
            super()._save_checkpoint(*args, **kwargs)
        except (OSError, RuntimeError) as error:
            shutil.rmtree(self.run / f"checkpoint-{self.state.global_step}", ignore_errors=True)
            kept = last_checkpoint(self.run)
            reason = " ".join(str(error).split())[:150]
            raise IsotropeError(
                f"checkpoint {self.state.global_step} could not be written ({reason}); "
                f"the last whole one is {kept.name if kept else 'none'}; make room, then go on with --resume"
            ) from error


class AfterStep(TrainerCallback):  # type: ignore[misc]
    """Tells the learner that the optimiser has stepped."""

    def on_optimizer_step(
        self, args: Any, state: TrainerState, control: TrainerControl, model: Any = None, **kwargs: Any
    ) -> None:
        """Averaging and clamping; the learner may be wrapped for several processes."""
        getattr(model, "module", model).after_step((state.global_step + 1) / state.max_steps)


class LogFile(TrainerCallback):  # type: ignore[misc]
    """Every line of figures as JSON. A resumed run drops the lines behind its checkpoint: they come again."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def on_train_begin(self, args: Any, state: TrainerState, control: TrainerControl, **kwargs: Any) -> None:
        """Cuts the file back to the checkpoint."""
        if self.file.is_file() and state.is_world_process_zero:
            lines = self.file.read_text().splitlines()
            kept = [line for line in lines if json.loads(line)["step"] <= state.global_step]
            self.file.write_text("".join(line + "\n" for line in kept))

    def on_log(
        self,
        args: Any,
        state: TrainerState,
        control: TrainerControl,
        logs: dict[str, float] | None = None,
        **kwargs: Any,
    ) -> None:
        """Appends one line."""
        if logs and state.is_world_process_zero:
            with self.file.open("a") as stream:
                stream.write(json.dumps({"step": state.global_step, **logs}) + "\n")


def arguments(training: Training, run: Path, *, steps: int, scored: bool) -> Any:
    """The recipe's numbers in the trainer's words."""
    best = scored and training.keep == "best"
    updates = max(1, steps // training.gradient_accumulation)
    return TrainingArguments(
        output_dir=str(run),
        max_steps=updates,
        per_device_train_batch_size=1,  # an item of StageBatches is a whole batch
        gradient_accumulation_steps=training.gradient_accumulation,
        learning_rate=training.learning_rate,
        lr_scheduler_type=training.schedule if training.schedule != "constant" else "constant_with_warmup",
        warmup_steps=math.ceil(training.warmup * updates),
        max_grad_norm=training.clip,
        bf16=training.precision == "bfloat16",
        fp16=training.precision == "float16",
        use_cpu=default_device() == "cpu",
        eval_strategy="steps",
        eval_steps=training.eval_steps,
        save_strategy="steps",
        save_steps=training.eval_steps if best else training.save_steps,
        save_total_limit=2 if best else 1,
        load_best_model_at_end=best,
        metric_for_best_model="spearman" if scored else None,
        greater_is_better=True if scored else None,
        logging_steps=min(10, training.eval_steps),
        seed=training.seed,
        report_to=list(training.report_to) or "none",
        disable_tqdm=True,
        remove_unused_columns=False,
        dataloader_pin_memory=torch.cuda.is_available(),
        ddp_find_unused_parameters=True,
    )
