"""The training loop, for the stages of a recipe and for pre-training alike.

One step, in the order of `Loop.train_step` and `Loop.run`:

    batch -> loss -> backward    for each batch that the step accumulates, the loss divided by their number
    clip                         the norm of the gradient; one that is not finite ends the run before it harms weights
    optimiser -> schedule        the weights move; the learning rate becomes that of the next step
    after_step                   what a method does then: momentum average, clamped temperature
    log, evaluate, save          each every so many steps

Batch k, the learning rate of step k and all random draws depend on the settings and on what a checkpoint holds, so a
run that was killed and resumed ends with the weights of one that was not, bit for bit.
"""

from __future__ import annotations

import math
import signal
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from accelerate import Accelerator
from accelerate.utils import DistributedDataParallelKwargs, gather_object
from torch import Tensor, nn
from torch.nn.utils import clip_grad_norm_
from torch.optim import Optimizer
from torch.utils.data import DataLoader, Dataset
from transformers import get_scheduler, set_seed

from isotrope.encoders.devices import default_device
from isotrope.encoders.half import faster_half
from isotrope.encoders.packing import Batch
from isotrope.encoders.precision import computing_in, dtype_of
from isotrope.encoders.quiet import quiet_transformers
from isotrope.io.errors import IsotropeError
from isotrope.io.memory import enough_memory, keeping_freed_memory
from isotrope.training import checkpoints
from isotrope.training.bar import RunBar
from isotrope.training.interruption import Interrupted, stop_requests
from isotrope.training.monitor import collapse
from isotrope.training.processes import all_alive, made_by_main_process
from isotrope.training.random_state import get_random_state, set_random_state
from isotrope.training.run_folder import LOG
from isotrope.training.run_log import RunLog
from isotrope.training.trackers import check_trackers

Item = dict[str, Any]  # keyword arguments of the model: tensors and `Batch`es
Evaluations = list[dict[str, float]]


def never(step: int) -> bool:
    """For no step."""
    return False


@dataclass(frozen=True)
class LoopSettings:
    """The numbers of a run. A step is one move of the optimiser."""

    steps: int
    schedule: str  # of the learning rate, by its name in transformers
    warmup: int  # steps
    clip: float  # largest norm of a gradient, 0 for any
    log_steps: int
    save_steps: int
    eval_steps: int = 0
    also_eval: Callable[[int], bool] = never  # whether the model is measured after a step beside those
    accumulation: int = 1
    keep_best: bool = False  # end with the weights of the best evaluation, not the last
    precision: str = "float32"
    computes_again: bool = False  # activations on the way back, which must then be dropped out as before
    report_to: tuple[str, ...] = ()
    seed: int = 1


MEMORY_ADVICE = "use smaller batches or shorter texts, then resume the run if it has a checkpoint"


class Loop:
    """Trains `model`, whose `forward(**batches[k])` gives `loss` and the parts that it is the sum of.

    `after_step` is told the share of the run that is done; `figures` are added to each line of the log; `measure`
    evaluates the model, by its `spearman` if it has one; `should_stop` judges the evaluations so far; `advice` is for
    runs that diverge.
    """

    def __init__(
        self,
        model: nn.Module,
        optimiser: Optimizer,
        batches: Dataset[Item],
        folder: Path,
        settings: LoopSettings,
        bar: RunBar,
        *,
        after_step: Callable[[float], None] = lambda progress: None,
        figures: Callable[[], dict[str, float]] = dict,
        measure: Callable[[], dict[str, float]] | None = None,
        should_stop: Callable[[Evaluations], bool] = lambda evaluations: False,
        advice: str = "lower the learning rate",
    ) -> None:
        check_trackers(settings.report_to)
        self.model, self.optimiser, self.batches = model, optimiser, batches
        self.folder, self.settings, self.bar, self.log_file = folder, settings, bar, RunLog(folder / LOG)
        self.after_step, self.figures, self.measure, self.should_stop = after_step, figures, measure, should_stop
        self.advice, self.precision = advice, dtype_of(settings.precision)
        self.accelerator = Accelerator(
            cpu=default_device() == "cpu",
            log_with=list(settings.report_to) or None,
            project_dir=str(folder / "trackers"),
            kwargs_handlers=[DistributedDataParallelKwargs(find_unused_parameters=True)],
        )
        self.device = self.accelerator.device
        if self.device.type != torch.device(default_device()).type:  # accelerate decides once for a process
            raise IsotropeError(f"this process has trained on {self.device} before; use another device in a new one")
        self.wrapped = self.accelerator.prepare_model(model)  # for several processes
        # accelerate has one precision for the life of a process; stages may differ, so autocast is in `loss`
        self.accelerator.unwrap_model(self.wrapped, keep_fp32_wrapper=False)
        self.scheduler = get_scheduler(settings.schedule, optimiser, settings.warmup, settings.steps)
        self.scaler = torch.amp.GradScaler(self.device.type, enabled=settings.precision == "float16")
        self.step = 0
        self.evaluations: Evaluations = []
        self.sums: dict[str, Tensor] = {}  # of the loss and its parts, since the last line of the log
        self.summed = self.tokens = self.places = 0

    def run(self, *, resume: bool = False, other_processes: bool = False) -> None:
        """All steps, or those that are left after the last whole checkpoint, which another number of processes may have
        written if `other_processes` says so.
        """
        settings = self.settings
        set_seed(settings.seed)
        torch.manual_seed(settings.seed + self.accelerator.process_index)  # no two processes draw the same dropout
        checkpoint = self._restore(other_processes) if resume else None
        if self.accelerator.is_main_process:
            self.log_file.cut(None if checkpoint is None else self.step)
        numbers = {key: value for key, value in vars(settings).items() if isinstance(value, str | int | float)}
        self.accelerator.init_trackers("isotrope", numbers)
        self.bar.start(self.step, settings.steps, shown=self.accelerator.is_main_process)
        try:
            with (
                quiet_transformers(),
                stop_requests() as request,
                enough_memory(MEMORY_ADVICE),
                keeping_freed_memory(),
                all_alive(self._kept),
            ):
                self.model.train()
                if checkpoint is None and self.measure is not None:
                    self.evaluate()
                batches = self._batches()
                if checkpoint is not None:  # after the iterator, which draws a seed of its own
                    self._restore_random_state(checkpoint)
                while self.step < settings.steps and not self.should_stop(self.evaluations):
                    self.train_step(list(islice(batches, settings.accumulation)))
                    if request.signal is not None:
                        self.accelerator.set_trigger()
                    stopped = self.accelerator.check_trigger()  # in any of the processes
                    self._log_evaluate_save(stopped)
                    if stopped:
                        raise Interrupted(self.step, request.signal or signal.SIGTERM)
                if settings.keep_best and self.best_step is not None:
                    self._load_best()
        finally:
            self.bar.stop()
            for tracker in self.accelerator.trackers:
                tracker.finish()

    def train_step(self, items: list[Item]) -> None:
        """One move of the optimiser over the batches that it accumulates."""
        for k, item in enumerate(items):
            last = k == len(items) - 1
            with nullcontext() if last else self.accelerator.no_sync(self.wrapped):
                loss = self.loss(item, len(items))
                self.scaler.scale(loss).backward()  # type: ignore[no-untyped-call]
        self.scaler.unscale_(self.optimiser)
        self.gradient_norm = float(clip_grad_norm_(self.model.parameters(), self.settings.clip or math.inf))
        if not self.scaler.is_enabled():  # which passes over such a step by itself, and lowers its scale
            self._stop_unless_finite("gradient", self.gradient_norm)
        scale = self.scaler.get_scale()
        self.scaler.step(self.optimiser)
        self.scaler.update()
        self.after_step((self.step + 1) / self.settings.steps)
        self.learning_rate = self.scheduler.get_last_lr()[0]
        if self.scaler.get_scale() >= scale:  # the step was not passed over
            self.scheduler.step()
        self.model.zero_grad()
        self.step += 1
        self.summed += 1
        self.bar.move(self.step)

    def loss(self, item: Item, accumulated: int) -> Tensor:
        """The loss of one batch, as its share of the step; it and its parts are added up for the log."""
        moved = {id(value): value.to(self.device) for value in item.values()}  # two views may be one batch
        faster = nullcontext() if self.settings.computes_again else faster_half(self.precision, self.device)
        with computing_in(self.precision, self.device), faster:
            parts: dict[str, Tensor] = self.wrapped(**{name: moved[id(value)] for name, value in item.items()})
        self._stop_unless_finite("loss", float(parts["loss"].detach()))
        for name in parts if len(parts) > 2 else ("loss",):  # a single part is the loss itself
            share = parts[name].detach().float() / accumulated
            self.sums[name] = self.sums[name] + share if name in self.sums else share
        for batch in moved.values():
            if isinstance(batch, Batch):
                self.tokens += batch.token_index.numel()
                self.places += batch.input_ids.numel()
        self.bar.tokens = self.tokens * self.accelerator.num_processes  # the others have as many, nearly
        return parts["loss"].float() / accumulated

    def _log_evaluate_save(self, stopped: bool) -> None:
        settings, last = self.settings, self.step == self.settings.steps
        if self.step % settings.log_steps == 0:
            self.log_losses()
        also = settings.also_eval(self.step)
        if self.measure is not None and (last or also or self.step % settings.eval_steps == 0):
            self.evaluate()
        ends = last or stopped or self.should_stop(self.evaluations)
        if ends or self.step % settings.save_steps == 0 or (also and settings.keep_best):
            self.save()

    def log_losses(self) -> None:
        """Means of the loss and its parts since the last line, over all processes."""
        sums = self.accelerator.reduce(torch.stack(list(self.sums.values())), "mean").tolist()
        line = {name: total / self.summed for name, total in zip(self.sums, sums, strict=True)}
        line |= {"grad_norm": self.gradient_norm, "learning_rate": self.learning_rate, **self.figures()}
        self.sums, self.summed = {}, 0
        self._log(line | {"padding": 1 - self.tokens / max(self.places, 1)})

    def evaluate(self) -> None:
        """Measures the model; warns if its vectors collapse."""
        assert self.measure is not None
        figures = self.measure()
        self._stop_unless_finite("mean cosine", figures["mean_cosine"])
        line = {f"eval_{name}": value for name, value in figures.items()}
        self._log(line)
        self.evaluations.append({"step": self.step, **line})
        first = {name.removeprefix("eval_"): value for name, value in self.evaluations[0].items()}
        warning = collapse(figures, first)
        if warning and self.accelerator.is_main_process:
            self.bar.say(f"step {self.step}: {warning}")

    @property
    def best_step(self) -> int | None:
        """The first of the evaluations with the highest score, that before the first step not counted."""
        scored = [line for line in self.evaluations if line["step"] and line.get("eval_spearman", math.nan) > -math.inf]
        return int(max(scored, key=lambda line: line["eval_spearman"])["step"]) if scored else None

    def save(self) -> None:
        """Writes a checkpoint; the first process does, and the others send it their random state."""
        states = gather_object([get_random_state(self.device)])
        if self.accelerator.is_main_process:
            parts = {"optimizer": self.optimiser.state_dict(), "scheduler": self.scheduler.state_dict()}
            parts |= {"scaler": self.scaler.state_dict(), **{f"rng-{k}": state for k, state in enumerate(states)}}
            state = {"step": self.step, "evaluations": self.evaluations, "best": self.best_step}
            checkpoints.save_checkpoint(self.folder, state, self.model, parts, self.accelerator.num_processes)
        self.accelerator.wait_for_everyone()

    def _restore(self, other_processes: bool) -> Path | None:
        """Loads the last whole checkpoint, but for the random state."""
        checkpoint = made_by_main_process(lambda: checkpoints.last_checkpoint(self.folder, self.bar.say))
        if checkpoint is None:
            return None
        note = checkpoints.check_origin(checkpoint, self.accelerator.num_processes, other_processes=other_processes)
        if note and self.accelerator.is_main_process:
            self.bar.say(note)
        checkpoints.load_weights(self.model, checkpoint)
        for name, part in (("optimizer", self.optimiser), ("scheduler", self.scheduler), ("scaler", self.scaler)):
            part.load_state_dict(checkpoints.load_part(checkpoint, name))
        state = checkpoints.load_state(checkpoint)
        self.step, self.evaluations = state["step"], state["evaluations"]
        return checkpoint

    def _restore_random_state(self, checkpoint: Path) -> None:
        """A process that was not there before draws by its number and the step."""
        part, number = f"rng-{self.accelerator.process_index}", self.accelerator.process_index
        if (checkpoint / f"{part}.pt").is_file():
            set_random_state(checkpoints.load_part(checkpoint, part), self.device)
        else:
            torch.manual_seed((self.settings.seed << 32) + (number << 24) + self.step)

    def _load_best(self) -> None:
        checkpoints.load_weights(self.model, self.folder / f"checkpoint-{self.best_step}")

    def _batches(self) -> Iterator[Item]:
        """Batch after batch from where the run is. They are not divided: each process has its share of every one."""
        each, total = self.settings.accumulation, len(self.batches)  # type: ignore[arg-type]
        left = range(self.step * each, min(self.settings.steps * each, total))
        return iter(DataLoader(self.batches, batch_size=None, sampler=left))

    def _log(self, figures: dict[str, float]) -> None:
        if self.accelerator.is_main_process:
            self.log_file.append(self.step, figures)
            self.bar.show(figures)
        self.accelerator.log(figures, step=self.step)

    def _stop_unless_finite(self, name: str, value: float) -> None:
        if not math.isfinite(value):
            raise IsotropeError(f"the {name} became {value} after step {self.step}; {self._kept()}; {self.advice}")

    def _kept(self) -> str:
        kept = checkpoints.last_checkpoint(self.folder)
        return f"the last good checkpoint is {kept.name}" if kept else "there is no checkpoint yet"
