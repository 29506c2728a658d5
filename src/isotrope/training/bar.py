"""What a person sees of a run: a bar with figures on a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import time
from collections.abc import Mapping

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

HIDDEN = {"grad_norm", "held_out_loss", "mean_cosine", "effective_rank", "alignment"}
LINE_SECONDS = 5  # without a terminal, no more than one line in so many seconds


class RunBar:
    """Follows a loop, which adds up the tokens seen in `tokens`."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.console = Console(stderr=True)
        self.bar: Progress | None = None
        self.shown: dict[str, float] = {}
        self.tokens = self.step = self.steps = 0
        self.printed = 0.0

    def start(self, step: int, steps: int, *, shown: bool = True) -> None:
        """Starts the clock, and the bar on a terminal."""
        self.step, self.steps, self.began = step, steps, time.monotonic()
        if self.console.is_terminal and shown:
            columns = (TextColumn(self.title), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[figures]}"))
            self.bar = Progress(*columns, TimeElapsedColumn(), TimeRemainingColumn(), console=self.console)
            self.bar.start()
            self.task = self.bar.add_task(self.title, total=steps, completed=step, figures="")

    def move(self, step: int) -> None:
        """A step is done."""
        self.step = step
        if self.bar is not None:
            self.bar.update(self.task, completed=step, figures=self._figures())

    def show(self, figures: Mapping[str, float]) -> None:
        """Takes new figures; without a terminal, prints them, those of an evaluation always."""
        named = {name.removeprefix("eval_"): value for name, value in figures.items()}
        self.shown.update({name: value for name, value in named.items() if name not in HIDDEN})
        due = "uniformity" in named or time.monotonic() - self.printed > LINE_SECONDS
        if self.bar is None and due:
            self.printed = time.monotonic()
            self.say(f"step {self.step}/{self.steps}  {self._figures()}")

    def stop(self) -> None:
        """Takes the bar down."""
        if self.bar is not None:
            self.bar.stop()
            self.bar = None

    def say(self, line: str) -> None:
        """A line of its own, above the bar."""
        self.console.print(line, highlight=False, soft_wrap=True)

    def _figures(self) -> str:
        seconds = max(time.monotonic() - self.began, 1e-9)
        return "  ".join([*(_figure(*item) for item in self.shown.items()), f"{self.tokens / seconds:,.0f} tokens/s"])


def _figure(name: str, value: float) -> str:
    if name in ("spearman", "padding"):
        return f"{name} {value:.2f}" if name == "spearman" else f"padding {value:.0%}"
    return f"{name.replace('learning_rate', 'lr')} {value:.3g}"
