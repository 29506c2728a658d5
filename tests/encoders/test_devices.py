from __future__ import annotations

import os

import pytest

from isotrope.encoders.devices import ACCELERATES, default_device, on_device
from isotrope.io.errors import IsotropeError


def test_a_chosen_device_is_the_default_while_it_lasts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setenv(ACCELERATES, "mine")
    assert default_device() == "cuda"
    with on_device("cpu"):
        assert (default_device(), os.environ[ACCELERATES]) == ("cpu", "cpu")
        with on_device(None):
            assert default_device() == "cpu"
    assert (default_device(), os.environ[ACCELERATES]) == ("cuda", "mine")
    with pytest.raises(IsotropeError, match="there is no device 'nonsense'"), on_device("nonsense"):
        pass
    assert default_device() == "cuda"
