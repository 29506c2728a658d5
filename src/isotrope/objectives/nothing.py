"""None: only labelled pairs are learnt from."""

from __future__ import annotations

from typing import ClassVar, Literal

from isotrope.objectives.base import Objective


class Nothing(Objective):
    """Reads no text; `supervision` says what is learnt. The anchor still holds."""

    kind: Literal["none"] = "none"
    reads: ClassVar[tuple[str, ...]] = ()
    compares: ClassVar[bool] = False
