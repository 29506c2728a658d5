"""Any number of sentences through an encoder: read ahead, sorted by length, and put back in order."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.nn import functional

from isotrope.io.errors import IsotropeError

if TYPE_CHECKING:
    from isotrope.encoders.encoder import Encoder

CHUNK_BATCHES = 64  # how many batches are read ahead and sorted by length together
# Tokens that a sentence of a batch counts for. A processor is fastest while a pass fits into its cache, and numbers of
# two bytes take half the room; a GPU is not busy before that, and has room for as many sentences of 512 tokens.
SENTENCE_TOKENS = {"float32": 16, "bfloat16": 32}
OTHERWISE = 512


def token_budget(batch_size: int, device: torch.device, precision: str) -> int:
    """Tokens in one pass."""
    return batch_size * (SENTENCE_TOKENS.get(precision, OTHERWISE) if device.type == "cpu" else OTHERWISE)


def packs(lengths: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Which sentences share a pass: of like length, the longest first, no more than `budget` tokens with padding."""
    some: list[int] = []
    for i in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        if some and (len(some) + 1) * lengths[some[0]] > budget:
            yield some
            some = []
        some.append(i)
    if some:
        yield some


@torch.no_grad()
def stream(
    encoder: Encoder,
    sentences: Iterable[str],
    batch_size: int,
    prompt: str,
    normalize_embeddings: bool,
    truncate_dim: int | None,
    tokens: bool = False,
) -> Iterator[list[Tensor]]:
    """Vectors in order, those of some thousand sentences at a time; of all their tokens with `tokens`."""
    if batch_size < 1:
        raise IsotropeError(f"batch_size must be at least 1, not {batch_size}")
    source = iter(sentences)
    while chunk := [prompt + text for text in islice(source, min(batch_size * CHUNK_BATCHES, sys.maxsize))]:
        was_training = encoder.training
        encoder.eval()
        found: list[Tensor] = [torch.empty(0)] * len(chunk)
        with encoder.backbone.computing():  # around all: weights are cast once
            for some, batch in encoder.batches(chunk, batch_size):
                hidden = encoder.token_vectors(batch)
                with torch.autocast(encoder.device.type, enabled=False):
                    if tokens:
                        pieces = torch.split(batch.flatten(hidden).float().cpu(), batch.lengths.tolist())
                    else:
                        pieces = _finish(encoder.pool(batch, hidden), normalize_embeddings, truncate_dim)
                for i, piece in zip(some, pieces, strict=True):
                    found[i] = piece
        encoder.train(was_training)
        yield found


def _finish(vectors: Tensor, normalize: bool, truncate_dim: int | None) -> tuple[Tensor, ...]:
    vectors = vectors[:, :truncate_dim].float()
    if normalize:
        vectors = functional.normalize(vectors, dim=-1)
    return vectors.cpu().unbind()
