"""How much the most frequent tokens of a text weigh in its sentence vectors: paper 2, Figure 4.

The encoder reads every token, but the k most frequent are left out when the token vectors are averaged. Where that
changes much, the mean is made of what all sentences share. [CLS] and [SEP] count as tokens, as in the paper.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from isotrope.encoders import Encoder
from isotrope.encoders.packing import Batch
from isotrope.evaluation.correlation import correlations, cosines
from isotrope.evaluation.data.pairs import Pairs
from isotrope.evaluation.geometry.measures import mean_cosine, uniformity

REMOVED = (0, 2, 10, 20, 34, 50, 100)  # 2: about [CLS] and [SEP]; 34, them included: the best of the paper
SENTENCES_PER_BATCH = 64
Vectors = NDArray[np.float32]


@dataclass(frozen=True)
class Sensitivity:
    """One figure for each number of removed tokens: without grades the geometry, with grades Spearman x 100."""

    removed: tuple[int, ...]
    mean_cosine: tuple[float, ...]
    uniformity: tuple[float, ...]
    spearman: tuple[float, ...] | None = None


def sensitivity(encoder: Encoder, text: Sequence[str] | Pairs, removed: Sequence[int] = REMOVED) -> Sensitivity:
    """What removing the most frequent tokens does to the vectors of some sentences or graded pairs, in which the tokens
    are counted too.
    """
    pairs = text if isinstance(text, Pairs) else None
    sentences = text.sentences if isinstance(text, Pairs) else list(text)
    found = vectors_without(encoder, sentences, frequent_tokens(encoder, sentences), removed)
    return Sensitivity(
        tuple(removed),
        tuple(mean_cosine(vectors) for vectors in found),
        tuple(uniformity(vectors) for vectors in found),
        tuple(_spearman(pairs, sentences, vectors) for vectors in found) if pairs else None,
    )


def frequent_tokens(encoder: Encoder, sentences: Sequence[str]) -> dict[int, int]:
    """Token id -> how often the sentences have it, the most frequent first; of equals the lower id."""
    counts = Counter(chain.from_iterable(encoder.tokenize(_prompted(encoder, sentences))))
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


@torch.no_grad()
def vectors_without(
    encoder: Encoder, sentences: Sequence[str], tokens: Sequence[int] | dict[int, int], removed: Sequence[int]
) -> list[Vectors]:
    """For each k of `removed`, vectors (sentences, dim) with the first k of `tokens` left out of the average; from one
    pass over the text. A sentence that has no other token keeps all of its own.

    An encoder that does not average is averaged, at its own layer.
    """
    encoder = averaging(encoder)
    order = torch.full((int(encoder.backbone.config.vocab_size),), len(tokens))
    order[list(tokens)] = torch.arange(len(tokens))
    found = [np.empty((len(sentences), encoder.dim), np.float32) for _ in removed]
    was_training = encoder.training
    encoder.eval()
    for some, batch in encoder.batches(_prompted(encoder, sentences), SENTENCES_PER_BATCH):
        hidden = encoder.token_vectors(batch)
        frequency_rank = order.to(encoder.device)[batch.input_ids]  # (rows, width)
        for vectors, k in zip(found, removed, strict=True):
            vectors[some] = encoder.pool(_thinned(batch, frequency_rank >= k), hidden).float().cpu().numpy()
    encoder.train(was_training)
    return found


def averaging(encoder: Encoder) -> Encoder:
    """The encoder itself if it averages its tokens, else with `mean` at the same layer."""
    if encoder.pooling.reduction == "mean":
        return encoder
    return encoder.with_pooling(replace(encoder.pooling, mode="mean"))


def _prompted(encoder: Encoder, sentences: Sequence[str]) -> list[str]:
    return [encoder.default_prompt + sentence for sentence in sentences]


def _thinned(batch: Batch, kept: Tensor) -> Batch:
    """The batch as the pooling sees it: of its tokens just those that are `kept`, (rows, width)."""
    owner = torch.repeat_interleave(torch.arange(len(batch.lengths), device=kept.device), batch.lengths)  # (tokens,)
    keeps = kept.flatten()[batch.token_index]
    lengths = torch.zeros_like(batch.lengths).index_add_(0, owner, keeps.to(batch.lengths.dtype))
    keeps = keeps | (lengths == 0)[owner]
    sentence = torch.full_like(batch.sentence, -1)
    sentence.view(-1)[batch.token_index[keeps]] = owner[keeps]
    return replace(
        batch,
        sentence=sentence,
        lengths=torch.where(lengths == 0, batch.lengths, lengths),
        token_index=batch.token_index[keeps],
    )


def _spearman(pairs: Pairs, sentences: Sequence[str], vectors: Vectors) -> float:
    row = {sentence: i for i, sentence in enumerate(sentences)}
    first, second = (vectors[[row[sentence] for sentence in side]] for side in (pairs.sentences1, pairs.sentences2))
    return correlations(pairs, cosines(first, second)).spearman["all"]
