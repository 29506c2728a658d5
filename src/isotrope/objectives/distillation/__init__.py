"""What is learnt from the vectors of frozen teachers, beside any objective or alone."""

from isotrope.objectives.distillation.base import Distillation
from isotrope.parts import Registry

DISTILLATION: Registry[Distillation] = Registry(
    "distillation", "isotrope.objectives.distillation", Distillation, default="none"
)

__all__ = ["DISTILLATION", "Distillation"]
