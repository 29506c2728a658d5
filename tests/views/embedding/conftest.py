from __future__ import annotations

import copy

import pytest

import isotrope
from isotrope.encoders import Encoder

SENTENCES = [  # the second and the fifth have next to nothing to take away
    "A man is playing a large flute by the river while his two dogs sleep.",
    "Stop.",
    "Two children in red coats run across the frozen lake towards the old house.",
    "The committee will publish its report on Friday, and not before.",
    "Nobody knows.",
    "She sold the bicycle that her brother had given her last summer.",
]


@pytest.fixture
def sentences() -> list[str]:
    return list(SENTENCES)


@pytest.fixture(scope="session")
def encoder() -> Encoder:
    return isotrope.load(device="cpu")


@pytest.fixture(scope="session")
def precise(encoder: Encoder) -> Encoder:
    """The bundled encoder in float64."""
    return copy.deepcopy(encoder).double()
