"""Several poolings of one backbone, from one pass through it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from isotrope.encoders.encoder import Encoder
from isotrope.encoders.pooling import mix


@torch.no_grad()
def encode_poolings(
    encoders: Sequence[Encoder], sentences: Sequence[str], *, batch_size: int = 64
) -> list[NDArray[Any]]:
    """What each encoder's `encode` gives, (sentences, dim) each.

    They are made of one by `with_pooling` and `with_after_pooling`: the transformer is by far the most of the work,
    and they share it.
    """
    first = encoders[0]
    if any(one.backbone is not first.backbone for one in encoders):
        raise ValueError("encoders of one backbone only")
    was_training = first.training
    first.eval()
    found = [np.empty((len(sentences), one.dim), np.float32) for one in encoders]
    for some, batch in first.batches([first.default_prompt + sentence for sentence in sentences], batch_size):
        states = first.backbone.hidden_states(batch)
        for vectors, one in zip(found, encoders, strict=True):
            hidden = mix(states, one.pooling.mixed_layers(first.backbone.layers))
            vectors[some] = one.pool(batch, hidden).float().cpu().numpy()
    first.train(was_training)
    return found
