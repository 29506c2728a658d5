from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

import isotrope
from isotrope.baselines.wk import wk_pooled
from isotrope.encoders.modules.wk import WKPooling, token_importance, unified_tokens
from isotrope.io.errors import IsotropeError

Floats = NDArray[np.float64]


def naive_unified(layers: Floats, window: int) -> Floats:
    """One token, (layers, dim): the reference algorithm, layer by layer, by projections instead of QR."""
    alignment, novelty = [], []
    for k, own in enumerate(layers):
        left = list(layers[k - window : k]) if k - window >= 0 else []
        context = np.array(left + list(layers[k + 1 : k + 1 + window]))
        in_span = context.T @ np.linalg.lstsq(context.T, own, rcond=None)[0]
        cosines = [vector @ in_span / np.linalg.norm(vector) / np.linalg.norm(in_span) for vector in context]
        alignment.append(1 / (2 * (len(context) + 1) * np.mean(cosines)))
        novelty.append(np.linalg.norm(own - in_span) / np.linalg.norm(own))
    weights = np.array(alignment) / sum(alignment) + np.array(novelty) / sum(novelty)
    unified: Floats = (weights / weights.sum()) @ layers
    return unified


def naive_importance(layers: Floats) -> float:
    steps = [a @ b / np.linalg.norm(a) / np.linalg.norm(b) for a, b in pairwise(layers)]
    return float(np.mean([(step - np.mean(steps)) ** 2 for step in steps]))


def naive_sentence(tokens: Floats, window: int = 2) -> Floats:
    """(tokens, layers, dim) without the last token."""
    importance = [naive_importance(token) for token in tokens]
    sentence: Floats = np.average([naive_unified(token, window) for token in tokens], axis=0, weights=importance)
    return sentence


@pytest.mark.parametrize(("layers", "window"), [(3, 2), (9, 2), (4, 1), (5, 3), (13, 2)])
def test_tokens_against_the_loop(layers: int, window: int) -> None:
    tokens = np.random.default_rng(layers).normal(0.5, 1, (6, layers, 24))
    found = unified_tokens(torch.from_numpy(tokens), window)
    assert np.allclose(found, [naive_unified(token, window) for token in tokens], atol=1e-10)
    assert np.allclose(token_importance(torch.from_numpy(tokens)), [naive_importance(t) for t in tokens], atol=1e-12)


@pytest.mark.parametrize("side", ["right", "left"])
def test_sentences_in_a_padded_batch_against_the_loop(side: str) -> None:
    rng, lengths, width = np.random.default_rng(0), [5, 1, 2, 7], 7
    states = rng.normal(0.5, 1, (6, len(lengths), width, 16))  # (layers, sentences, width, dim)
    mask = np.array([[i < n if side == "right" else i >= width - n for i in range(width)] for n in lengths])
    features = {
        "all_layer_embeddings": tuple(torch.from_numpy(states)),
        "attention_mask": torch.from_numpy(mask.astype(np.int64)),
    }
    found = WKPooling(16, first_layer=2)(features)["sentence_embedding"]
    for i, n in enumerate(lengths):
        tokens = states[2:, i, mask[i]].swapaxes(0, 1)
        assert np.allclose(found[i], naive_sentence(tokens[: max(n - 1, 1)]), atol=1e-10)


def test_an_encoder_against_the_loop(encoder: isotrope.Encoder, text: list[str]) -> None:
    sentences = text[:12]
    found = wk_pooled(encoder).encode(sentences)
    for sentence, vector in zip(sentences, found, strict=True):
        with torch.no_grad():
            states = torch.stack(encoder.backbone.hidden_states(encoder.batch([sentence])), 2)[0]
        tokens = states[:-1, 1:].double().numpy()  # without [SEP]; a third of four layers is 1
        wanted = naive_sentence(tokens)
        assert np.abs(vector - wanted).max() <= 1e-3 * np.abs(wanted).max()


def test_the_encoder_stays_as_it_was(encoder: isotrope.Encoder, text: list[str]) -> None:
    """Both read all layers of the same weights; neither may find those of the other among its own."""
    encoder, some = encoder.with_pooling("last2"), text[:5]
    before = encoder.encode(some)
    pooled = wk_pooled(encoder)
    first = pooled.encode(some)
    assert np.array_equal(encoder.encode(some), before)
    assert np.array_equal(pooled.encode(some), first)
    ours = {parameter.data_ptr() for parameter in encoder.backbone.parameters()}
    assert {parameter.data_ptr() for parameter in pooled.parameters()} <= ours


def test_first_layers(encoder: isotrope.Encoder, minilm: isotrope.Encoder) -> None:
    assert [wk_pooled(one).model[1].first_layer for one in (encoder, minilm)] == [1, 2]
    assert wk_pooled(encoder, 2).model[1].first_layer == 2
    with pytest.raises(IsotropeError, match="WK pooling from layer 3 on: this encoder has layers 0 to 4"):
        wk_pooled(encoder, 3)
