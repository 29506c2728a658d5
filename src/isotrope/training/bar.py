"""What a person sees of a run: a bar with figures on a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import ExitStack

from isotrope.io.progress import Display

HIDDEN = {
    "grad_norm",
    "held_out_loss",
    "mean_cosine",
    "effective_rank",
    "alignment",
    "pairs_alignment",
    "pairs_uniformity",
}
LINE_SECONDS = 5  # without a terminal, no more than one line in so many seconds


class RunBar:
    """Follows a loop, which adds up the tokens seen in `tokens`."""

    def __init__(self, title: str) -> None:
        self.title, self.display, self._open = title, Display(title), ExitStack()
        self.shown: dict[str, float] = {}
        self.tokens = 0
        self.printed = 0.0

    def start(self, step: int, steps: int, *, shown: bool = True) -> None:
        """Starts the clock, and the bar on a terminal."""
        self.began = time.monotonic()
        self.display = self._open.enter_context(Display(self.title, steps, done=step, shown=shown))

    def move(self, step: int) -> None:
        """A step is done."""
        self.display(step - self.display.done, figures=self._figures())

    def show(self, figures: Mapping[str, float]) -> None:
        """Takes new figures; without a terminal, prints them, those of an evaluation always."""
        named = {name.removeprefix("eval_"): value for name, value in figures.items()}
        self.shown.update({name: value for name, value in named.items() if name not in HIDDEN})
        due = "uniformity" in named or time.monotonic() - self.printed > LINE_SECONDS
        if not self.display.drawn and due:
            self.printed = time.monotonic()
            self.say(f"step {self.display.done}/{self.display.total}  {self._figures()}")

    def stop(self) -> None:
        """Takes the bar down."""
        self._open.close()

    def say(self, line: str) -> None:
        """A line of its own, above the bar."""
        self.display.say(line)

    def _figures(self) -> str:
        seconds = max(time.monotonic() - self.began, 1e-9)
        return "  ".join([*(_figure(*item) for item in self.shown.items()), f"{self.tokens / seconds:,.0f} tokens/s"])


def _figure(name: str, value: float) -> str:
    if name in ("spearman", "padding"):
        return f"{name} {value:.2f}" if name == "spearman" else f"padding {value:.0%}"
    return f"{name.replace('learning_rate', 'lr')} {value:.3g}"
