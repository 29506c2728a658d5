"""Which numbers can be a seed: numpy's generators, and so everybody's, take 32 bits."""

from __future__ import annotations

from isotrope.io.errors import IsotropeError

LARGEST_SEED = 2**32 - 1


def check_seed(seed: int) -> None:
    """Refuses what some of the generators of a run would not take."""
    if not 0 <= seed <= LARGEST_SEED:
        raise IsotropeError(f"seed {seed}: a seed is a whole number from 0 to {LARGEST_SEED}")
