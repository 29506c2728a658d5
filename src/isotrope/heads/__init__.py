"""Networks between encoder and objective that are dropped after training, and the queue of keys."""

from isotrope.heads.base import CalledHead, HeadSpec
from isotrope.parts import Registry

PROJECTIONS: Registry[HeadSpec] = Registry("heads", "isotrope.heads", HeadSpec, called=CalledHead, default="projection")
PREDICTORS: Registry[HeadSpec] = Registry("heads", "isotrope.heads", HeadSpec, called=CalledHead, default="predictor")

__all__ = ["PREDICTORS", "PROJECTIONS", "HeadSpec"]
