from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def no_data_folder(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Each test names its data; real ones are found before the variable that may point to them is taken away."""
    if "shared_data" in request.fixturenames:
        request.getfixturevalue("shared_data")
    monkeypatch.delenv("ISOTROPE_DATA", raising=False)
