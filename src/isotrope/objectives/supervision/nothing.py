"""None: raw text alone."""

from __future__ import annotations

from typing import Literal

from isotrope.objectives.supervision.base import Supervision


class Unsupervised(Supervision):
    """No labels are read."""

    kind: Literal["none"] = "none"
