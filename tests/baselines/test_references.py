from __future__ import annotations

import random
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from sentence_transformers import SentenceTransformer

import isotrope
from isotrope.baselines import fit_baseline
from isotrope.baselines.contrastive_tension import tension_pairs
from isotrope.baselines.tsdae import damaged_pairs
from isotrope.io.errors import IsotropeError


def test_a_sentence_with_itself_and_with_seven_others() -> None:
    sentences = [f"sentence {i}" for i in range(1000)]
    pairs = list(islice(tension_pairs(sentences, random.Random(0)), 800))
    for start in range(0, 800, 8):
        group = pairs[start : start + 8]
        assert group[0][0] == group[0][1]
        assert len({first for first, _ in group}) == 1
    assert sum(first == second for first, second in pairs) in range(100, 105)  # by chance a few of the others


def test_damaged_sentences_lose_three_words_in_five_and_never_all() -> None:
    sentences = [" ".join(f"w{i}" for i in range(n)) for n in (1, 5, 40)]
    pairs = list(islice(damaged_pairs(sentences, random.Random(0)), 600))
    for damaged, whole in pairs:
        words = iter(whole.split())
        assert damaged
        assert all(word in words for word in damaged.split())  # in their order
    long = [len(damaged.split()) / 40 for damaged, whole in pairs if whole == sentences[2]]
    assert 0.37 < np.mean(long) < 0.43


@pytest.mark.parametrize(("kind", "pooling"), [("ct", "mean"), ("tsdae", "cls")])
def test_training(kind: str, pooling: str, text: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    trained = fit_baseline(kind, iter(text), output=tmp_path / "first", steps=2)
    assert capfd.readouterr() == ("", "")
    vectors = trained.encode(text[:6])
    assert str(trained.pooling) == pooling
    assert np.isfinite(vectors).all()
    assert np.abs(vectors - isotrope.load(pooling=pooling).encode(text[:6])).max() > 1e-4
    peer = SentenceTransformer(str(tmp_path / "first"), device="cpu")
    assert np.abs(peer.encode(text[:6]) - vectors).max() <= 1e-5
    assert "steps 2" in (tmp_path / "first" / "README.md").read_text()
    assert np.array_equal(fit_baseline(kind, text, steps=2).encode(text[:6]), vectors)
    assert np.abs(fit_baseline(kind, text, steps=2, seed=2).encode(text[:6]) - vectors).max() > 1e-5


def test_mistakes(text: list[str], tmp_path: Path) -> None:
    with pytest.raises(IsotropeError, match=r"unknown kind 'tsda' \(did you mean 'tsdae'\?\)"):
        fit_baseline("tsda", text)
    with pytest.raises(IsotropeError, match="give more text"):
        fit_baseline("ct", ["one"])
    with pytest.raises(IsotropeError, match="exists already"):
        fit_baseline("ct", text, output=tmp_path)


def test_a_model_in_memory_stays_as_it_is(text: list[str]) -> None:
    encoder = isotrope.load(pooling="mean")
    before = encoder.encode(text[:6])
    trained = fit_baseline("ct", text, model=encoder, steps=1, learning_rate=1e-3)
    assert np.array_equal(encoder.encode(text[:6]), before)
    assert np.abs(trained.encode(text[:6]) - before).max() > 1e-4
