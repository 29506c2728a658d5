"""What a person sees of a run: a bar with figures on a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import time
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments

QUIET = {"epoch", "total_flos", "train_runtime", "train_samples_per_second", "train_steps_per_second", "train_loss"}


class RunBar(TrainerCallback):  # type: ignore[misc]
    """Follows a `transformers.Trainer`. `tokens_per_step` turns steps into tokens a second."""

    def __init__(self, title: str, tokens_per_step: int) -> None:
        self.title, self.tokens_per_step = title, tokens_per_step
        self.console = Console(stderr=True)
        self.bar: Progress | None = None
        self.shown: dict[str, float] = {}

    def on_train_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        """Starts the clock, and the bar on a terminal."""
        self.began, self.first = time.monotonic(), state.global_step
        if self.console.is_terminal:
            columns = (TextColumn(self.title), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[figures]}"))
            self.bar = Progress(*columns, TimeElapsedColumn(), TimeRemainingColumn(), console=self.console)
            self.bar.start()
            self.task = self.bar.add_task(self.title, total=state.max_steps, completed=state.global_step, figures="")

    def on_step_end(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any) -> None:
        """Moves the bar."""
        if self.bar is not None:
            self.bar.update(self.task, completed=state.global_step, figures=self._figures(state))

    def on_log(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        logs: dict[str, float] | None = None,
        **kwargs: Any,
    ) -> None:
        """Takes the new figures; without a terminal, prints them."""
        new = {name: float(value) for name, value in (logs or {}).items() if name not in QUIET}
        self.shown.update(new)
        if self.bar is None and new and state.is_world_process_zero:
            self.console.print(f"step {state.global_step}/{state.max_steps}  {self._figures(state)}", highlight=False)

    def on_train_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        """Takes the bar down."""
        if self.bar is not None:
            self.bar.stop()

    def _figures(self, state: TrainerState) -> str:
        seconds = max(time.monotonic() - self.began, 1e-9)
        speed = (state.global_step - self.first) * self.tokens_per_step / seconds
        figures = [f"{name} {value:.4g}" for name, value in self.shown.items()]
        return "  ".join([*figures, f"{speed:,.0f} tokens/s"])
