"""How sentence vectors lie in space, without any labels; and which layer knows most about similarity."""

from isotrope.evaluation.geometry.measures import (
    alignment,
    effective_rank,
    iso_score,
    mean_cosine,
    partition_isotropy,
    spectrum,
    uniformity,
)

__all__ = [
    "alignment",
    "effective_rank",
    "iso_score",
    "mean_cosine",
    "partition_isotropy",
    "spectrum",
    "uniformity",
]
