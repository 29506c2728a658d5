"""WK pooling: SBERT-WK (Wang and Kuo, 2020). A token's layers are weighed by how much each says that its neighbours do
not, then the tokens by how much they change from layer to layer.
"""

from __future__ import annotations

from typing import Any

import torch
from sentence_transformers.base.modules import Module
from torch import Tensor

WINDOW = 2  # layers on either side that a layer is compared with
FIRST_LAYER = 4  # of twelve; shallower encoders begin at a third of their layers


class WKPooling(Module):  # type: ignore[misc]
    """A sentence-transformers module: all layers' token vectors -> sentence vectors."""

    config_keys = ("embedding_dimension", "first_layer", "window")

    def __init__(self, embedding_dimension: int, first_layer: int = FIRST_LAYER, window: int = WINDOW) -> None:
        super().__init__()
        self.embedding_dimension, self.first_layer, self.window = embedding_dimension, first_layer, window

    def forward(self, features: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        """Puts the sentence embedding among the features. A sentence's last token, [SEP], is left out as published."""
        states = torch.stack(features["all_layer_embeddings"][self.first_layer :], 2)  # (sentences, width, layers, dim)
        mask = features["attention_mask"].bool()
        count = mask.cumsum(1)
        used = mask & ((count < count[:, -1:]) | (count[:, -1:] == 1))
        tokens = states[used]  # (tokens, layers, dim)
        sentence = used.nonzero()[:, 0]  # of each token
        importance = token_importance(tokens)
        weighted = unified_tokens(tokens, self.window) * importance[:, None]
        total = importance.new_zeros(len(mask)).index_add(0, sentence, importance)
        summed = weighted.new_zeros(len(mask), weighted.shape[1]).index_add(0, sentence, weighted)
        features["sentence_embedding"] = summed / total[:, None]
        return features

    def get_embedding_dimension(self) -> int:
        """Length of a sentence vector."""
        return self.embedding_dimension

    def save(self, output_path: str, *args: Any, safe_serialization: bool = True, **kwargs: Any) -> None:
        """The numbers; there are no weights."""
        self.save_config(output_path)


def unified_tokens(tokens: Tensor, window: int = WINDOW) -> Tensor:
    """(tokens, layers, dim) -> (tokens, dim): layers weighed by alignment and novelty (Section IV-B).

    A layer's window are the `window` layers behind it and the `window` before it; of the latter none where there are
    fewer, which is what the published code does.
    """
    alignment, novelty = [], []  # (tokens,) of each layer
    for k in range(tokens.shape[1]):
        before = tokens[:, k - window : k] if k >= window else tokens[:, :0]
        around = torch.cat([before, tokens[:, k + 1 : k + window + 1], tokens[:, k : k + 1]], 1)
        r = torch.linalg.qr(around.mT, mode="r").R  # (tokens, n, n), the layer itself in the last column
        known, own = r[:, :-1, -1], r[:, -1, -1]  # in the span of its window, and beyond it
        mean_direction = torch.nn.functional.normalize(r[:, :-1, :-1], dim=1).mean(2)
        aligned = (mean_direction * known).sum(1) / known.norm(dim=1)
        alignment.append(1 / (2 * around.shape[1] * aligned))
        novelty.append(own.abs() / r[:, :, -1].norm(dim=1))
    weights = _shares(torch.stack(alignment, 1)) + _shares(torch.stack(novelty, 1))
    return (tokens * _shares(weights)[:, :, None]).sum(1)


def token_importance(tokens: Tensor) -> Tensor:
    """(tokens, layers, dim) -> (tokens,): variance of the cosines of neighbouring layers (Section IV-C)."""
    cosines = torch.nn.functional.cosine_similarity(tokens[:, 1:], tokens[:, :-1], dim=2)
    return cosines.var(1, correction=0)


def _shares(weights: Tensor) -> Tensor:
    return weights / weights.sum(1, keepdim=True)
