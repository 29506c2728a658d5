"""None: no teacher."""

from __future__ import annotations

from typing import Literal

from isotrope.objectives.distillation.base import Distillation


class NoDistillation(Distillation):
    """Nothing is learnt from a teacher's vectors."""

    kind: Literal["none"] = "none"
