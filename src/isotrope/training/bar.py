"""What a person sees of a run: a bar with figures on a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import time
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments

HIDDEN = {
    *("epoch", "total_flos", "train_runtime", "train_samples_per_second", "train_steps_per_second", "train_loss"),
    *("grad_norm", "held_out_loss", "mean_cosine", "effective_rank", "alignment"),
}  # fmt: skip
LINE_SECONDS = 5  # without a terminal, no more than one line in so many seconds


class RunBar(TrainerCallback):  # type: ignore[misc]
    """Follows a `transformers.Trainer`. Whoever feeds it adds up the tokens seen in `tokens`."""

    def __init__(self, title: str, tokens_per_step: int = 0) -> None:
        self.title, self.tokens_per_step = title, tokens_per_step
        self.console = Console(stderr=True)
        self.bar: Progress | None = None
        self.shown: dict[str, float] = {}
        self.tokens = 0
        self.printed = 0.0

    def on_train_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        """Starts the clock, and the bar on a terminal."""
        self.began, self.first = time.monotonic(), state.global_step
        if self.console.is_terminal and state.is_world_process_zero:
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
        """Takes the new figures; without a terminal, prints them, those of an evaluation always."""
        named = {name.removeprefix("eval_"): value for name, value in (logs or {}).items()}
        new = {name: float(value) for name, value in named.items() if name not in HIDDEN}
        self.shown.update(new)
        due = "uniformity" in new or time.monotonic() - self.printed > LINE_SECONDS
        if self.bar is None and new and due and state.is_world_process_zero:
            self.printed = time.monotonic()
            self.say(f"step {state.global_step}/{state.max_steps}  {self._figures(state)}")

    def on_train_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        """Takes the bar down."""
        self.stop()

    def stop(self) -> None:
        """Takes the bar down, also after an error."""
        if self.bar is not None:
            self.bar.stop()
            self.bar = None

    def say(self, line: str) -> None:
        """A line of its own, above the bar."""
        self.console.print(line, highlight=False, soft_wrap=True)

    def _figures(self, state: TrainerState) -> str:
        seconds = max(time.monotonic() - self.began, 1e-9)
        tokens = self.tokens or (state.global_step - self.first) * self.tokens_per_step
        return "  ".join([*(_figure(*item) for item in self.shown.items()), f"{tokens / seconds:,.0f} tokens/s"])


def _figure(name: str, value: float) -> str:
    if name in ("spearman", "padding"):
        return f"{name} {value:.2f}" if name == "spearman" else f"padding {value:.0%}"
    return f"{name.replace('learning_rate', 'lr')} {value:.3g}"
