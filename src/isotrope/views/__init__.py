"""How a sentence is seen twice: at the embedding layer (shuffling, cutoff, dropout, adversarial)."""

from isotrope.views.adversarial import Adversarial, Perturbation, fast_gradient_view
from isotrope.views.embedding import Dropout, FeatureCutoff, Identity, Shuffle, SpanCutoff, TokenCutoff
from isotrope.views.kinds import KINDS, View, make

__all__ = [
    "KINDS",
    "Adversarial",
    "Dropout",
    "FeatureCutoff",
    "Identity",
    "Perturbation",
    "Shuffle",
    "SpanCutoff",
    "TokenCutoff",
    "View",
    "fast_gradient_view",
    "make",
]
