"""Baselines by name: isotrope's own, those of users, and what is kept of the text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import isotrope
from isotrope.baselines import BASELINES, fit_baseline
from isotrope.encoders import Encoder, load_any
from isotrope.evaluation.provenance import training_text
from isotrope.fits.whitening import whiten
from isotrope.io.errors import IsotropeError

SOURCE = """
from torch import nn


class Shift(nn.Module):
    pass


def center(encoder, text: list[str], *, strength: float = 1.0):
    import torch
    from sentence_transformers.base.modules import Dense

    mean = torch.from_numpy(encoder.encode(text).mean(0))
    eye = torch.eye(encoder.dim)
    dense = Dense(encoder.dim, encoder.dim, activation_function=None, init_weight=eye, init_bias=-strength * mean)
    return encoder.with_after_pooling([*encoder.after_pooling, dense])


def wrong(encoder, text):
    return text
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A module of a user's own."""
    (tmp_path / "own_baselines.py").write_text(SOURCE)
    monkeypatch.syspath_prepend(tmp_path)
    return "own_baselines"


def test_each_kind_is_found_in_its_file() -> None:
    kinds = {"whitening", "flow", "wk", "frequent", "glove", "tfidf", "ct", "tsdae", "use", "words"}
    assert set(BASELINES.kinds) == kinds
    assert all(spec.title for spec in BASELINES.specs.values())


def test_it_is_what_its_function_makes(encoder: isotrope.Encoder, text: list[str]) -> None:
    wanted = whiten(encoder, text, 20).encode(text[:9])
    for model in (encoder, "bundled"):
        assert np.abs(fit_baseline("whitening", text, model=model, dim=20).encode(text[:9]) - wanted).max() <= 1e-5


def test_files_columns_and_generators(encoder: isotrope.Encoder, text: list[str], tmp_path: Path) -> None:
    rows = [{"said": one, "text": "other"} for one in text[:50]]
    (tmp_path / "text.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "more.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows[:10]))
    one = fit_baseline("tfidf", (sentence for sentence in text[:50]))
    other = fit_baseline("tfidf", tmp_path / "text.jsonl", column="said")
    assert np.array_equal(one.encode(text[:9]), other.encode(text[:9]))
    both = fit_baseline("tfidf", [tmp_path / "text.jsonl", tmp_path / "more.jsonl"], column="said")
    assert both.dim == one.dim


def test_a_function_of_the_users_own(package: str, text: list[str], tmp_path: Path) -> None:
    made = fit_baseline(f"{package}:center", text[:20], output=tmp_path / "made", strength=0.5, pooling="mean")
    assert isinstance(made, Encoder)
    plain = isotrope.load()
    wanted = plain.encode(text[:5]) - 0.5 * plain.encode(text[:20]).mean(0)
    assert np.abs(load_any(tmp_path / "made").encode(text[:5]) - wanted).max() <= 1e-5
    assert "strength 0.5" in (tmp_path / "made" / "README.md").read_text()
    assert training_text(str(tmp_path / "made")) == [tmp_path / "made"]


def test_it_is_whole_with_the_keys_of_its_text_or_not_there(
    encoder: isotrope.Encoder, text: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kill between the encoder and its keys would leave a folder that is in the way of the same command."""

    def stopped(*arguments: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr("isotrope.baselines.fitting.growing_table", stopped)
    with pytest.raises(KeyboardInterrupt):
        isotrope.fit_baseline("whitening", text, model=encoder, output=tmp_path / "white", dim=4)
    assert list(tmp_path.iterdir()) == []
    monkeypatch.undo()
    isotrope.fit_baseline("whitening", text, model=encoder, output=tmp_path / "white", dim=4)
    assert {"keys.npy", "baseline.json", "modules.json"} <= {file.name for file in (tmp_path / "white").iterdir()}


def test_mistakes(package: str, text: list[str], tmp_path: Path) -> None:
    with pytest.raises(IsotropeError, match="own_baselines:wrong' must return an encoder, not a list"):
        fit_baseline(f"{package}:wrong", text[:3])
    with pytest.raises(IsotropeError, match="dim: Input should be greater than or equal to 1"):
        fit_baseline("whitening", text, dim=0)
    with pytest.raises(IsotropeError, match="wk needs no text"):
        fit_baseline("wk", text)
    with pytest.raises(IsotropeError, match="exists already"):
        fit_baseline("tfidf", text, output=tmp_path)
