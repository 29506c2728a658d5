"""What is fitted on top of a frozen encoder, and the baselines that tuned encoders are measured against."""

from isotrope.baselines.base import BASELINES, BaselineSpec, OnEncoder
from isotrope.baselines.fitting import fit_baseline

__all__ = ["BASELINES", "BaselineSpec", "OnEncoder", "fit_baseline"]
