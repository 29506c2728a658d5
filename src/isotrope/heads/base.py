"""What every head has in common."""

from __future__ import annotations

from typing import ClassVar

from torch import nn

from isotrope.parts import Called, Spec


class HeadSpec(Spec):
    """What a recipe says about a network behind the pooling."""

    over_the_batch: ClassVar[bool] = False  # it normalises over the batch, and so needs more than one sentence

    def width(self, dim: int) -> int:
        """How wide its vectors are where nothing else decides that."""
        return dim

    def build(self, dim: int, out: int, std: float) -> nn.Module:
        """(n, dim) -> (n, out). `std` is that of the encoder's own weights when they were drawn."""
        raise NotImplementedError


class CalledHead(Called, HeadSpec):
    """A head of one's own: a class or function that is called with `dim` and `out` and gives a module."""

    def build(self, dim: int, out: int, std: float) -> nn.Module:
        """What the class or function makes."""
        made: nn.Module = type(self).thing(dim, out, **self.chosen)
        return made
