"""Word vectors to start from: a truncated SVD of the corpus's own PPMI matrix (Levy and Goldberg, 2014)."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

IntArray = np.ndarray[Any, np.dtype[np.integer[Any]]]
CHUNK = 4_000_000  # tokens counted at once


def cooccurrences(tokens: IntArray, sentence: IntArray, vocabulary: int, window: int) -> Tensor:
    """How often two tokens stand at most `window` apart in one sentence: (vocabulary, vocabulary), symmetric."""
    counts = np.zeros(vocabulary * vocabulary, dtype=np.float32)
    for start in range(0, len(tokens), CHUNK):
        left_tokens, left_sentence = tokens[start : start + CHUNK], sentence[start : start + CHUNK]
        for distance in range(1, window + 1):
            right_tokens = tokens[start + distance : start + CHUNK + distance].astype(np.int64)
            right_sentence = sentence[start + distance : start + CHUNK + distance]
            n = len(right_tokens)
            together = left_sentence[:n] == right_sentence
            pairs = left_tokens[:n][together].astype(np.int64) * vocabulary + right_tokens[together]
            counts += np.bincount(pairs, minlength=vocabulary * vocabulary)
    matrix = torch.from_numpy(counts).view(vocabulary, vocabulary)
    return matrix + matrix.T


def ppmi(counts: Tensor) -> Tensor:
    """max(0, log p(a, b) / (p(a) p(b))); 0 where two tokens never meet."""
    total = counts.sum()
    row = counts.sum(1, keepdim=True)
    ratio = counts * total / (row * row.T).clamp_min(1)
    return torch.where(counts > 0, ratio.clamp_min(1).log(), torch.zeros(()))


def ppmi_vectors(
    tokens: IntArray,
    sentence: IntArray,
    vocabulary: int,
    dim: int,
    *,
    window: int = 5,
    std: float = 0.04,
    seed: int = 0,
) -> Tensor:
    """(vocabulary, dim): U sqrt(S) of the PPMI matrix, scaled to deviation `std`; a token never met is noise."""
    matrix = ppmi(cooccurrences(tokens, sentence, vocabulary, window))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        u, s, _ = torch.svd_lowrank(matrix, q=min(dim + 32, vocabulary), niter=4)
        vectors = torch.zeros(vocabulary, dim)
        width = min(dim, u.shape[1])
        vectors[:, :width] = u[:, :width] * s[:width].sqrt()
        vectors *= std / vectors.std()
        unseen = matrix.sum(1) == 0
        vectors[unseen] = torch.randn(int(unseen.sum()), dim) * std / 2
    return vectors
