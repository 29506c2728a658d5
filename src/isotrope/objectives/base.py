"""What every objective has in common: the spec that a recipe gives, around a pure function of tensors."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, ClassVar

import torch
from pydantic import Field, model_validator
from torch import Tensor, nn

from isotrope.parts import Called, Spec

if TYPE_CHECKING:
    from isotrope.encoders import Encoder


class Objective(Spec):
    """What pulls and pushes. `anchor` is lambda of paper 1: how strongly the student is held near where it began."""

    anchor: float = Field(default=0.0, ge=0)

    reads: ClassVar[tuple[str, ...]] = ("first", "second")  # the views that it needs
    compares: ClassVar[bool] = True  # the student's vectors with a guide's
    label: ClassVar[str] = "contrast"  # of its part of the loss, in the log
    symmetric: ClassVar[bool] = False  # whether it counts both directions anyway
    of_vectors: ClassVar[bool] = True  # whether it reads sentences by their vectors

    @property
    def layered(self) -> bool:
        """Whether it compares with a vector of every layer, (n, layers, dim)."""
        return False

    @property
    def takes_negatives(self) -> bool:
        """Whether it has a denominator, to which a queue and hard negatives add."""
        return False

    @property
    def can_leave_out(self) -> bool:
        """Whether it can do without some of its negatives, as `negatives` wants it."""
        return False

    def state(self, student: Encoder) -> nn.Module:
        """What it trains or keeps beside the student: a temperature, a language model."""
        return nn.Module()

    def prepare(self, item: dict[str, Any], tokenizer: Any, generator: torch.Generator) -> dict[str, Any]:
        """A batch before it goes to the learner; `generator` is the batch's own."""
        return item

    def learn(self, learner: Any, item: dict[str, Any]) -> Tensor:
        """The loss on one batch: the two views, encoded by student and guide, compared."""
        loss: Tensor = learner.compare_views(item)
        return loss

    def __call__(
        self,
        c: Tensor,
        h: Tensor,
        state: Any,
        *,
        queue: Tensor | None,
        hard: Tensor | None,
        left_out: Tensor | None = None,
    ) -> Tensor:
        """The student's vectors `c` (n, dim) against the guide's `h`, (n, dim) or (n, layers, dim).

        `queue` (m, dim) are keys of earlier batches, `hard` (n, dim) or (n, layers, dim) those of hard negatives.
        `left_out` says which pairs are no negatives, see `objectives.negatives`.
        """
        raise NotImplementedError

    def rate_of_its_own(self) -> float | None:
        """The learning rate of what its state trains; None: that of the run."""
        return None

    def after_step(self, state: Any) -> None:
        """Called after each step of the optimiser."""

    def figures(self, state: Any) -> dict[str, float]:
        """What its state is worth a line in the log."""
        return {}


class Weighted(Objective):
    """One that learns from raw text; `weight` is its share of the loss beside others."""

    weight: float = Field(default=1.0, gt=0)


class Contrastive(Weighted):
    """One with a temperature and a denominator."""

    temperature: float = Field(default=0.05, gt=0)
    learnable_temperature: bool = False
    temperature_rate: float | None = Field(default=None, gt=0)  # a learning rate of its own; None: that of the run

    @property
    def takes_negatives(self) -> bool:
        """Always."""
        return True

    @property
    def can_leave_out(self) -> bool:
        """Always."""
        return True

    @model_validator(mode="after")
    def _rate_of_what_learns(self) -> Contrastive:
        if self.temperature_rate is not None and not self.learnable_temperature:
            raise ValueError("temperature_rate has no effect without learnable_temperature")
        return self

    def rate_of_its_own(self) -> float | None:
        """The temperature's."""
        return self.temperature_rate

    def state(self, student: Encoder) -> Temperature:
        """The temperature."""
        return Temperature(self.temperature, learnable=self.learnable_temperature)

    def after_step(self, state: Temperature) -> None:
        """Keeps a learnt temperature from falling to nothing."""
        state.clamp()

    def figures(self, state: Temperature) -> dict[str, float]:
        """The temperature, where it learns."""
        return {"temperature": float(state.log.detach().exp())} if self.learnable_temperature else {}


class CalledObjective(Called, Weighted):
    """An objective of one's own: `def margin(c, h, *, margin: float = 0.2) -> Tensor`.

    With keyword arguments named `queue` and `hard` it takes those negatives; with one named `left_out`, guided ones.
    """

    given: ClassVar[tuple[str, ...]] = ("queue", "hard", "left_out")

    @property
    def takes_negatives(self) -> bool:
        """Whether the function asks for them."""
        return {"queue", "hard"} <= self._asked

    @property
    def can_leave_out(self) -> bool:
        """Whether the function asks which."""
        return "left_out" in self._asked

    def __call__(
        self,
        c: Tensor,
        h: Tensor,
        state: Any,
        *,
        queue: Tensor | None,
        hard: Tensor | None,
        left_out: Tensor | None = None,
    ) -> Tensor:
        """The function's loss."""
        negatives = {"queue": queue, "hard": hard} if self.takes_negatives else {}
        negatives |= {"left_out": left_out} if self.can_leave_out else {}
        loss: Tensor = type(self).thing(c, h, **negatives, **self.chosen)
        return loss

    @property
    def _asked(self) -> set[str]:
        return set(inspect.signature(type(self).thing).parameters)


class Temperature(nn.Module):
    """A fixed number, or a learnt one on a log scale and no lower than `LOWEST` (CLIP; "parameter 1" of paper 4)."""

    LOWEST = 0.01

    def __init__(self, initial: float, *, learnable: bool) -> None:
        super().__init__()
        self.log = nn.Parameter(torch.tensor(initial).log(), requires_grad=learnable)
        self.initial = initial

    def forward(self) -> Tensor | float:
        """The temperature."""
        return self.log.exp() if self.log.requires_grad else self.initial

    @torch.no_grad()
    def clamp(self) -> None:
        """Called after each step."""
        if self.log.requires_grad:
            self.log.clamp_(min=torch.tensor(self.LOWEST).log().item())
