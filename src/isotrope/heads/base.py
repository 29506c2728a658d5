"""What every head has in common."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field, model_validator
from torch import nn

from isotrope.parts import Called, Spec


class HeadSpec(Spec):
    """What a recipe says about a network behind the pooling."""

    over_the_batch: ClassVar[bool] = False  # it normalises over the batch, and so needs more than one sentence

    def own_width(self, dim: int) -> int:
        """How wide its vectors are where nothing else decides that."""
        return dim

    def build(self, dim: int, out: int, std: float) -> nn.Module:
        """(n, dim) -> (n, out). `std` is that of the encoder's own weights when they were drawn."""
        raise NotImplementedError


class SizedHead(HeadSpec):
    """One whose inner layers are `width` wide, or `ratio` x as wide as what goes in: one of the two is given."""

    width: int | None = Field(default=None, ge=1)
    ratio: float | None = Field(default=None, gt=0, le=1000)

    @model_validator(mode="after")
    def _one_of_both(self) -> SizedHead:
        if self.width is not None and self.ratio is not None:
            raise ValueError('width and ratio are both given; leave out one of them, or set it to "default"')
        return self

    def inner_width(self, dim: int) -> int:
        """That of its inner layers, where what goes in is `dim` wide."""
        if self.ratio is not None:
            return max(1, round(self.ratio * dim))
        return self.width or self.usual_width(dim)

    def usual_width(self, dim: int) -> int:
        """That of its paper, where neither is given."""
        raise NotImplementedError


class CalledHead(Called, HeadSpec):
    """A head of one's own: a class or function that is called with `dim` and `out` and gives a module."""

    def build(self, dim: int, out: int, std: float) -> nn.Module:
        """What the class or function makes."""
        made: nn.Module = type(self).thing(dim, out, **self.chosen)
        return made
