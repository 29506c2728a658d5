from __future__ import annotations

import pytest

import isotrope
from isotrope.text import bundled_sentences


@pytest.fixture(scope="session")
def encoder() -> isotrope.Encoder:
    return isotrope.load()


@pytest.fixture(scope="session")
def text() -> list[str]:
    """A few hundred sentences, shuffled by nobody: of all kinds that are bundled."""
    return bundled_sentences()[::5]
