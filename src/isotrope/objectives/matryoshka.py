"""Matryoshka: vectors whose first numbers are vectors too (Kusupati et al., 2022). It goes with any objective."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Annotated

import torch
from pydantic import Field, field_validator
from torch import Tensor

from isotrope.io.errors import IsotropeError
from isotrope.parts import Section


class Matryoshka(Section):
    """`dims`: lengths that vectors may be cut to, beside their own; `weights` of these in the loss, 1 unless given."""

    dims: tuple[Annotated[int, Field(ge=1)], ...] = ()
    weights: tuple[Annotated[float, Field(gt=0)], ...] = ()

    @field_validator("dims")
    @classmethod
    def _falling(cls, dims: tuple[int, ...]) -> tuple[int, ...]:
        if sorted(set(dims), reverse=True) != list(dims):
            raise ValueError("name each length once, the longest first: [256, 128, 64]")
        return dims

    def lengths(self, dim: int) -> dict[int, float]:
        """Of vectors of `dim` numbers: each length with its weight, their own first."""
        if self.dims and not all(1 <= length <= dim for length in self.dims):
            raise IsotropeError(f"matryoshka.dims {list(self.dims)}: this encoder's vectors have {dim} numbers")
        if self.dims == (dim,):
            raise IsotropeError(f"matryoshka.dims {list(self.dims)}: this encoder's vectors have {dim} numbers anyway")
        given = dict(zip(self.dims, self.weights or (1.0,) * len(self.dims), strict=True))
        return {dim: 1.0} | given


def matryoshka(loss: Callable[[Callable[[Tensor], Tensor]], Tensor], lengths: dict[int, float]) -> Tensor:
    """Kusupati et al., equation 1:  L = sum_m c_m L_m,  L_m the loss of vectors cut to their first m numbers.

    `loss` is told how to cut, (..., dim) -> (..., m); `lengths` are m with their c_m.
    """
    return torch.stack([weight * loss(partial(first, m)) for m, weight in lengths.items()]).sum()


def first(m: int, vectors: Tensor) -> Tensor:
    """(..., dim) -> (..., m)."""
    return vectors[..., :m]
