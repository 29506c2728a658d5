from __future__ import annotations

import math
import sys
from pathlib import Path

import pytest
from torch import Tensor

import isotrope
from isotrope.encoders.packing import Batch
from isotrope.evaluation import Pairs, load_pairs, score_pairs
from isotrope.evaluation.geometry.layers import LayerMap, layer_map, plot
from isotrope.io.errors import IsotropeError


@pytest.fixture(scope="module")
def encoder() -> isotrope.Encoder:
    return isotrope.load("bundled", device="cpu")


@pytest.fixture(scope="module")
def pairs() -> Pairs:
    dev = load_pairs("bundled", split="dev")
    return Pairs(dev.sentences1[:50], dev.sentences2[:50], dev.scores[:50], dev.subtask[:50])  # two batches


@pytest.fixture(scope="module")
def found(encoder: isotrope.Encoder, pairs: Pairs) -> LayerMap:
    return layer_map(encoder, pairs)


def test_each_figure_is_that_of_an_encoder_with_that_pooling(
    encoder: isotrope.Encoder, pairs: Pairs, found: LayerMap
) -> None:
    assert found.model == "bundled"
    assert list(found.spearman) == ["cls", "mean", "max"]
    for pooling, line in found.spearman.items():
        assert len(line) == encoder.backbone.layers + 1
        for layer, figure in enumerate(line):
            if (pooling, layer) != ("cls", 0):
                alone = score_pairs(encoder.with_pooling(f"{pooling}@{layer}"), pairs)
                assert figure == pytest.approx(alone.spearman["all"], abs=0.02)
    pooling, layer = found.best
    assert found.spearman[pooling][layer] == max(f for line in found.spearman.values() for f in line if f == f)


def test_cls_of_the_embeddings_has_seen_nothing(encoder: isotrope.Encoder, pairs: Pairs, found: LayerMap) -> None:
    assert math.isnan(found.spearman["cls"][0])
    with pytest.raises(IsotropeError, match="every pair the same cosine"):
        score_pairs(encoder.with_pooling("cls@0"), pairs)


def test_the_text_is_passed_once_packed_and_without_dropout(
    encoder: isotrope.Encoder, pairs: Pairs, found: LayerMap, monkeypatch: pytest.MonkeyPatch
) -> None:
    passes: list[tuple[int, bool]] = []
    hidden_states = encoder.backbone.hidden_states

    def watched(batch: Batch) -> tuple[Tensor, ...]:
        passes.append((len(batch.lengths), batch.packed))
        return hidden_states(batch)

    monkeypatch.setattr(encoder.backbone, "hidden_states", watched)
    encoder.train()
    again = layer_map(encoder, pairs, ["max", "mean"])
    assert encoder.training
    encoder.eval()
    assert sum(sentences for sentences, _ in passes) == 2 * len(pairs.scores)
    assert all(packed for _, packed in passes)
    assert again.spearman == {name: found.spearman[name] for name in ("max", "mean")}


def test_poolings_of_more_than_one_layer_have_no_map(encoder: isotrope.Encoder, pairs: Pairs) -> None:
    with pytest.raises(IsotropeError, match=r"no pooling 'maen' \(did you mean 'mean'\?\); it takes cls, mean, max"):
        layer_map(encoder, pairs, ["maen"])


def test_too_few_pairs(encoder: isotrope.Encoder) -> None:
    with pytest.raises(IsotropeError, match="cls@1: 1 pairs"):
        layer_map(encoder, Pairs(["a"], ["b"], [1], ["x"]))


def test_plot_writes_a_picture(tmp_path: Path, found: LayerMap) -> None:
    pytest.importorskip("matplotlib")
    plot(found, tmp_path / "map.png")
    assert (tmp_path / "map.png").read_bytes().startswith(b"\x89PNG")
    plot(found, tmp_path / "map.svg")
    assert "<svg" in (tmp_path / "map.svg").read_text()
    for path in (tmp_path / "map.docx", tmp_path / "nowhere" / "map.png"):
        with pytest.raises(IsotropeError, match="the picture can't be written"):
            plot(found, path)
        assert not path.exists()


def test_plot_without_matplotlib_says_what_to_install(
    tmp_path: Path, found: LayerMap, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(IsotropeError, match=r"pip install 'isotrope\[plots\]'"):
        plot(found, tmp_path / "map.png")
