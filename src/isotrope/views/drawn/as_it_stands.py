"""The text as it stands, each time."""

from __future__ import annotations

from typing import ClassVar, Literal

from isotrope.views.drawn.base import Draw, DrawnText, Ground


class AsItStands(DrawnText):
    """Nothing is drawn."""

    kind: Literal["none"] = "none"
    fixed: ClassVar[bool] = True
    alters: ClassVar[bool] = False

    def prepare(self, ground: Ground) -> Draw:
        """One that changes nothing."""
        return Draw()
