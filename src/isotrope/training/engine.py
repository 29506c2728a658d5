"""The engine: `transformers.Trainer` runs the learner.

Resume, mixed precision, gradient accumulation, loggers and several processes are the trainer's own.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_model, save_model
from torch import Tensor
from torch.utils.data import DataLoader, SequentialSampler
from transformers import Trainer, TrainerCallback, TrainerControl, TrainerState, TrainingArguments
from transformers.trainer_callback import PrinterCallback

from isotrope.encoders.loading import default_device
from isotrope.io.atomic import whole_or_nothing
from isotrope.io.errors import IsotropeError
from isotrope.recipes.schema import Training
from isotrope.training.bar import RunBar
from isotrope.training.batches import StageBatches
from isotrope.training.checkpoints import last_checkpoint, whole_checkpoint, writing
from isotrope.training.learner import Learner
from isotrope.training.optimisers import OPTIMISERS
from isotrope.training.watch import PATIENCE, Watch, collapse

LOG = "log.jsonl"
WEIGHTS = "model.safetensors"


class Engine(Trainer):  # type: ignore[misc]
    """Runs one stage. Batches come as planned; the watch measures; the best or the last checkpoint is what remains."""

    def __init__(self, learner: Learner, batches: StageBatches, watch: Watch, run: Path, bar: RunBar) -> None:
        training = learner.stage.training
        super().__init__(
            model=learner,
            args=arguments(training, run, steps=len(batches), scored=watch.score is not None),
            train_dataset=batches,
            eval_dataset=batches,  # asked for by the trainer; `evaluate` looks at what the watch holds
            data_collator=lambda items: items[0],
            callbacks=[AfterStep(), LogFile(run / LOG), bar],
        )
        self.pop_callback(PrinterCallback)
        self.learner, self.watch, self.run, self.bar = learner, watch, run, bar
        self.parts: dict[str, list[float]] = {}
        self.tokens = self.places = 0
        torch.manual_seed(training.seed + self.args.process_index)  # no two processes draw the same dropout

    def train(self, resume_from_checkpoint: str | None = None, *args: Any, **kwargs: Any) -> Any:
        """Measures before the first step, too."""
        self.args.eval_on_start = resume_from_checkpoint is None
        return super().train(resume_from_checkpoint, *args, **kwargs)

    def _run_epoch(self, *args: Any, **kwargs: Any) -> None:
        """The plan is one epoch to the trainer. Nothing of it is left to a run that was killed when it had stopped."""
        if not self._out_of_patience():
            super()._run_epoch(*args, **kwargs)

    def get_train_dataloader(self) -> DataLoader[Any]:
        """One planned batch after the other. Not sharded: each process has its share of every batch already."""
        assert self.train_dataset is not None
        sampler = SequentialSampler(self.train_dataset)
        return DataLoader(self.train_dataset, batch_size=1, sampler=sampler, collate_fn=self.data_collator)

    def create_optimizer(self, *args: Any, **kwargs: Any) -> torch.optim.Optimizer:
        """That of the recipe. Weight decay is for matrices: biases, norms and the temperature are exempt."""
        training = self.learner.stage.training
        learning = [parameter for parameter in self.learner.parameters() if parameter.requires_grad]
        groups = [
            {"params": [p for p in learning if p.dim() > 1], "weight_decay": training.weight_decay},
            {"params": [p for p in learning if p.dim() <= 1], "weight_decay": 0.0},
        ]
        kind = OPTIMISERS[training.optimiser]
        made = kind(groups, lr=training.learning_rate, betas=training.betas, eps=training.epsilon)
        self.optimizer = made
        return made

    def _prepare_inputs(self, inputs: dict[str, Any]) -> dict[str, Any]:
        moved = {id(value): value.to(self.args.device) for value in inputs.values()}  # both views may be one batch
        return {name: moved[id(value)] for name, value in inputs.items()}

    def compute_loss(self, model: Any, inputs: Any, return_outputs: bool = False, **kwargs: Any) -> Any:
        """The learner's loss. A loss that is no number ends the run before it can spoil a checkpoint."""
        parts: dict[str, Tensor] = model(**inputs)
        loss = parts["loss"]
        self._stop_unless_finite("loss", float(loss.detach()))
        for name, part in parts.items():
            if name != "loss" and len(parts) > 2:
                self.parts.setdefault(name, []).append(float(part))
        for batch in {id(value): value for value in inputs.values() if hasattr(value, "token_index")}.values():
            self.tokens += batch.token_index.numel()
            self.places += batch.input_ids.numel()
        self.bar.tokens = self.tokens
        return (loss, parts) if return_outputs else loss

    def _get_grad_norm(self, *args: Any, **kwargs: Any) -> Any:
        """A finite loss may have a gradient that is not: the weights must not get it. Half precision scales its own."""
        norm = super()._get_grad_norm(*args, **kwargs)
        if not self.args.fp16:
            self._stop_unless_finite("gradient", float(norm))
        return norm

    def _stop_unless_finite(self, name: str, value: float) -> None:
        if not math.isfinite(value):
            kept = last_checkpoint(self.run)
            raise IsotropeError(
                f"the {name} became {value} after step {self.state.global_step}; "
                f"the last good checkpoint is {kept.name if kept else 'none'}; "
                "lower training.learning_rate or raise objective.temperature"
            )

    def log(self, logs: dict[str, float], *args: Any, **kwargs: Any) -> None:
        """Adds the parts of the loss since the last line, the temperature where it learns, and the share of padding."""
        if "loss" in logs:
            logs.update({name: sum(found) / len(found) for name, found in self.parts.items()})
            self.parts.clear()
            logs.update(self.learner.log_figures())
            logs["padding"] = 1 - self.tokens / max(self.places, 1)
        super().log(logs, *args, **kwargs)

    def evaluate(self, *args: Any, **kwargs: Any) -> dict[str, float]:
        """The watch's figures, under the names that choose the best checkpoint; stops the run if patience is lost."""
        figures = self.watch.figures(self.learner)
        self._stop_unless_finite("mean cosine", figures["mean_cosine"])
        metrics = {f"eval_{name}": value for name, value in figures.items()}
        self.log(dict(metrics))
        first = next(line for line in self.state.log_history if "eval_uniformity" in line)  # also of a resumed run
        warning = collapse(figures, {name: first[f"eval_{name}"] for name in figures})
        if warning and self.is_world_process_zero():
            self.bar.say(f"step {self.state.global_step}: {warning}")
        self.control: TrainerControl = self.callback_handler.on_evaluate(self.args, self.state, self.control, metrics)
        self.control.should_training_stop |= self._out_of_patience()
        return metrics

    def _out_of_patience(self) -> bool:
        """Judged by the history, which is in the checkpoint: a resumed run stops where the uninterrupted one did."""
        training = self.learner.stage.training
        lost = PATIENCE[training.patience_counts](self.state.log_history)
        return training.patience is not None and lost >= training.patience

    def _save(self, output_dir: str | None = None, state_dict: Any = None) -> None:
        """Tied weights (a masked LM's) are written once."""
        folder = Path(output_dir or self.args.output_dir)
        folder.mkdir(parents=True, exist_ok=True)
        save_model(self.learner, str(folder / WEIGHTS))

    def _load_from_checkpoint(self, resume_from_checkpoint: str, model: Any = None) -> None:
        load_model(self.learner, Path(resume_from_checkpoint) / WEIGHTS, device=str(self.args.device))

    def _load_best_model(self) -> None:
        self._load_from_checkpoint(str(self.state.best_model_checkpoint))

    def _save_checkpoint(self, *args: Any, **kwargs: Any) -> None:
        with whole_checkpoint(self.run, self.state.global_step):
            super()._save_checkpoint(*args, **kwargs)

    def _save_rng_state(self, output_dir: str) -> None:
        """Each process writes its own; what marks the checkpoint as whole comes next, so all must have done it."""
        super()._save_rng_state(output_dir)
        self.accelerator.wait_for_everyone()


class AfterStep(TrainerCallback):  # type: ignore[misc]
    """Tells the learner that the optimiser has stepped."""

    def on_optimizer_step(
        self, args: Any, state: TrainerState, control: TrainerControl, model: Any = None, **kwargs: Any
    ) -> None:
        """Averaging and clamping; the learner may be wrapped for several processes."""
        getattr(model, "module", model).after_step((state.global_step + 1) / state.max_steps)


class LogFile(TrainerCallback):  # type: ignore[misc]
    """Every line of figures as JSON, null for those that are no number."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def on_train_begin(self, args: Any, state: TrainerState, control: TrainerControl, **kwargs: Any) -> None:
        """Cuts the file back to the checkpoint: the lines behind it come again, and the last may be half a line."""
        if self.file.is_file() and state.is_world_process_zero:
            lines = self.file.read_text().splitlines() if state.global_step else []
            kept = [line for line in lines if line.endswith("}") and json.loads(line)["step"] <= state.global_step]
            with whole_or_nothing(self.file) as path:
                path.write_text("".join(line + "\n" for line in kept))

    def on_log(
        self,
        args: Any,
        state: TrainerState,
        control: TrainerControl,
        logs: dict[str, float] | None = None,
        **kwargs: Any,
    ) -> None:
        """Appends one line. The trainer's last one is about this process alone, and left out."""
        if logs and "train_runtime" not in logs and state.is_world_process_zero:
            figures = {name: value if math.isfinite(value) else None for name, value in logs.items()}
            with writing(self.file), self.file.open("a") as stream:
                stream.write(json.dumps({"step": state.global_step, **figures}) + "\n")


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
        save_total_limit=2 if scored else 1,  # the best and the last
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
