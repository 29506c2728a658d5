"""What is learnt from labelled pairs beside the raw text."""

from isotrope.objectives.supervision.base import Supervision
from isotrope.parts import Registry

SUPERVISION: Registry[Supervision] = Registry(
    "supervision", "isotrope.objectives.supervision", Supervision, default="none"
)

__all__ = ["SUPERVISION", "Supervision"]
