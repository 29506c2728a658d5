"""A guide of one's own: the student as it was every `period` steps ago. A class, since it keeps something.

[guide]
kind = "guide:Snapshot"
period = 50
"""

from __future__ import annotations

import copy
from typing import Any

import torch

import isotrope
from isotrope.guides import Guide
from isotrope.text import bundled_sentences


class Snapshot(Guide):
    """A copy that stands still, and jumps to where the student is every `period` steps."""

    def __init__(self, student: isotrope.Encoder, *, period: int = 100) -> None:
        super().__init__(student.dim)
        self.copy, self.period = copy.deepcopy(student), period
        self.register_buffer("steps", torch.zeros((), dtype=torch.long))  # a buffer, so that a resumed run knows it
        self.keep_frozen()

    @property
    def frozen(self) -> tuple[torch.nn.Module, ...]:
        """What must not learn."""
        return (self.copy,)

    @torch.no_grad()
    def forward(self, batch: Any, student: isotrope.Encoder, view: Any = None) -> torch.Tensor:
        """(sentences, dim), without gradient."""
        vectors: torch.Tensor = self.copy(batch, view)
        return vectors

    def after_step(self, student: isotrope.Encoder, progress: float) -> None:
        """Called after each step of the optimiser."""
        self.steps += 1
        if int(self.steps) % self.period == 0:
            self.copy.load_state_dict(student.state_dict())


def main(output: str = "runs/snapshot", steps: int = 20) -> None:
    """SimCSE whose second view is an older self's."""
    guide = {"guide": {"kind": Snapshot, "period": 5}}
    run = isotrope.train(bundled_sentences(), "simcse:bundled", output=output, steps=steps, set=guide)
    print(run.recipe.stages[0].guide, run.log[-1])


if __name__ == "__main__":
    main()
