"""The tower between encoder and objective: a projection, then a predictor, as in BYOL and MoCo v3.

    student   c -> projection -> predictor -> compared
    guide     h -> projection             -> compared     the student's own, a momentum copy of it, or none

It knows its widths: the student's side always ends as wide as the guide's, by a linear map where no predictor does it.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Annotated, Literal

from torch import Tensor, nn

from isotrope.heads import PREDICTORS, PROJECTIONS, HeadSpec
from isotrope.io.errors import IsotropeError
from isotrope.parts import Section

if TYPE_CHECKING:
    from isotrope.guides import Guide


class Heads(Section):
    """`projection` is on both sides, `predictor` on the student's only. `guide`: whose projection the guide's side has.

    "student" is the student's own, "momentum" a copy that follows it as a momentum guide does, "none" is none.
    """

    projection: Annotated[HeadSpec, PROJECTIONS] | None = None
    predictor: Annotated[HeadSpec, PREDICTORS] | None = None
    guide: Literal["student", "momentum", "none"] = "student"

    @property
    def both(self) -> tuple[HeadSpec, ...]:
        """Those that there are."""
        return tuple(head for head in (self.projection, self.predictor) if head is not None)


class Tower(nn.Module):
    """The heads of both sides. `dim` is the student's width, `guide_dim` the guide's."""

    def __init__(self, dim: int, guide_dim: int, heads: Heads, std: float) -> None:
        super().__init__()
        spec = heads.projection
        shared = spec is not None and heads.guide != "none"
        if shared and dim != guide_dim:
            raise IsotropeError(
                f"the guide's vectors are {guide_dim} wide, the student's {dim}: one projection can't serve both; "
                'set heads.guide = "none"'
            )
        width = dim if spec is None else spec.own_width(dim)
        self.out = width if shared else guide_dim  # how wide the vectors are that are compared
        self.projection = nn.Identity() if spec is None else spec.build(dim, width, std)
        self.predictor: nn.Module = nn.Identity()
        if heads.predictor is not None:
            self.predictor = heads.predictor.build(width, self.out, std)
        elif width != self.out:
            self.predictor = nn.Linear(width, self.out)
        self.shared = shared
        follows = shared and heads.guide == "momentum"
        self.copied = copy.deepcopy(self.projection).requires_grad_(False) if follows else None

    def student(self, c: Tensor) -> Tensor:
        """(n, dim) -> (n, out)."""
        found: Tensor = self.predictor(self.projection(c))
        return found

    def guide(self, h: Tensor) -> Tensor:
        """(n, guide_dim) or (n, layers, guide_dim) -> the same with `out`."""
        if not self.shared:
            return h
        projection = self.projection if self.copied is None else self.copied
        found: Tensor = projection(h.flatten(0, -2)).unflatten(0, h.shape[:-1])
        return found

    def after_step(self, guide: Guide, progress: float) -> None:
        """Called after each step of the optimiser."""
        if self.copied is not None:
            guide.follow(self.copied, self.projection, progress)
