"""The views of ConSERT (paper 2, section 3.2): the same sentence with something taken away at the embedding layer.

A view never touches the attention mask: what is zeroed is still attended to and still pooled. It acts on each sentence
by itself, packed or padded alike, and draws anew at every pass.

Where the paper's text and its published code differ, the difference is a field: `at` (the word embeddings, or what is
behind position, LayerNorm and dropout), `specials` (whether the first and last token, [CLS] and [SEP], take part),
`rounding` and so on. The defaults are the paper's reading; where the text is silent, [CLS] and [SEP] are left alone,
since they carry no word of the sentence. `views.make` has both settings by name.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import torch
from torch import Tensor

from isotrope.encoders.packing import Batch
from isotrope.io.errors import IsotropeError
from isotrope.views.draws import Rounding, choose, free_tokens, rank, sentence_of, share, shuffled

Layer = Literal["word", "embeddings"]


class Unmoved:
    """A view that leaves every token at its place."""

    def positions(self, batch: Batch, offset: int) -> Tensor:
        """Position ids (rows, width), from `offset` on in each sentence."""
        return batch.position_ids + offset


@dataclass(frozen=True)
class Identity(Unmoved):
    """None: the sentence as it is."""

    at: Layer = field(default="word", init=False)

    def __call__(self, embeddings: Tensor, batch: Batch) -> Tensor:
        """Embeddings unchanged."""
        return embeddings


@dataclass(frozen=True)
class Shuffle:
    """Token shuffling: the tokens stay, their position ids are permuted within each sentence.

    `specials`: [CLS] and [SEP] are permuted too. `offset`: positions begin where the model's do; the published code
    begins at 0 even for RoBERTa, which begins at 2.
    """

    specials: bool = False
    offset: bool = True
    at: Layer = field(default="word", init=False)

    def positions(self, batch: Batch, offset: int) -> Tensor:
        """Permuted position ids (rows, width)."""
        free = free_tokens(batch, self.specials)
        place = batch.token_index[free]
        positions = batch.position_ids.flatten().clone()
        positions[place] = positions[place[shuffled(sentence_of(batch)[free])]]
        return positions.view_as(batch.position_ids) + (offset if self.offset else 0)

    def __call__(self, embeddings: Tensor, batch: Batch) -> Tensor:
        """Embeddings unchanged: the order is in the position ids alone."""
        return embeddings


@dataclass(frozen=True)
class Rated(Unmoved):
    """A view that takes a share `rate` of something away."""

    rate: float
    at: Layer = "word"

    def __post_init__(self) -> None:
        """Checks the rate."""
        if not 0 <= self.rate < 1:
            raise IsotropeError(f"the rate of a view is a share: at least 0 and below 1, not {self.rate}")


@dataclass(frozen=True)
class TokenCutoff(Rated):
    """Token cutoff: whole tokens are zeroed, an exact share of those that may be cut in each sentence.

    The published code rounds down and counts [CLS] and [SEP], so at 0.15 a sentence of under 7 tokens is left whole.
    """

    specials: bool = False
    rounding: Rounding = "nearest"

    def __call__(self, embeddings: Tensor, batch: Batch) -> Tensor:
        """Embeddings (rows, width, dim) with some rows at zero."""
        free = free_tokens(batch, self.specials)
        sentence = sentence_of(batch)[free]
        size = sentence.bincount(minlength=batch.lengths.numel())
        drawn = choose(sentence, share(size, self.rate, self.rounding))
        return zero(embeddings, batch, _cut(batch, free[drawn]))


@dataclass(frozen=True)
class FeatureCutoff(Rated):
    """Feature cutoff: whole columns of a sentence's L x d matrix are zeroed, other ones in each sentence.

    At 0.2 of 768 columns that is 154; the published code rounds down to 153.
    """

    rounding: Rounding = "nearest"

    def __call__(self, embeddings: Tensor, batch: Batch) -> Tensor:
        """Embeddings (rows, width, dim) with some columns of each sentence at zero."""
        dim = embeddings.shape[-1]
        keys = torch.rand(batch.lengths.numel(), dim, device=embeddings.device)
        cut = keys.argsort(dim=1) < share(torch.tensor(dim), self.rate, self.rounding)  # (sentences, dim)
        return zero(embeddings, batch, cut[sentence_of(batch)])


@dataclass(frozen=True)
class SpanCutoff(Rated):
    """Span cutoff: neighbouring tokens are zeroed. The paper names it and doesn't use it.

    `keep`: the span, of a share 1 - `rate` and at least one token, is what stays, and both ends go, as in the published
    code. That code masks what it cuts when attention has its mask already, so it is attended to there as well. It puts
    the embedding of [PAD] in its place; this view puts zeros.
    """

    specials: bool = False
    rounding: Rounding = "nearest"
    keep: bool = False

    def __call__(self, embeddings: Tensor, batch: Batch) -> Tensor:
        """Embeddings (rows, width, dim) with a span, or all but a span, at zero."""
        free = free_tokens(batch, self.specials)
        sentence = sentence_of(batch)[free]
        size = sentence.bincount(minlength=batch.lengths.numel())
        span = share(size, 1 - self.rate if self.keep else self.rate, self.rounding)
        if self.keep:
            span = span.clamp(min=1).minimum(size)
        start = torch.randint(2**32, size.shape, device=size.device) % (size - span + 1)
        place = rank(sentence) - start[sentence]
        inside = (place >= 0) & (place < span[sentence])
        return zero(embeddings, batch, _cut(batch, free[inside != self.keep]))


@dataclass(frozen=True)
class Dropout(Rated):
    """Dropout: single elements are zeroed, each with probability `rate`, and the others scaled by 1 / (1 - rate).

    `exact`: int(tokens x dim x rate) elements of each sentence instead. The published code is exact, without rescaling.
    """

    exact: bool = False
    rescale: bool = True

    def __call__(self, embeddings: Tensor, batch: Batch) -> Tensor:
        """Embeddings (rows, width, dim) with some elements at zero."""
        tokens, dim = batch.token_index.numel(), embeddings.shape[-1]
        if self.exact:
            sentence = sentence_of(batch).repeat_interleave(dim)
            cut = choose(sentence, share(batch.lengths * dim, self.rate, "down")).view(tokens, dim)
        else:
            cut = torch.rand(tokens, dim, device=embeddings.device) < self.rate
        seen = zero(embeddings, batch, cut)
        return seen / (1 - self.rate) if self.rescale else seen


def zero(embeddings: Tensor, batch: Batch, cut: Tensor) -> Tensor:
    """Embeddings (rows, width, dim) with 0 where `cut`, (tokens, dim) or (tokens, 1), says so. Padding stays."""
    rows, width, _ = embeddings.shape
    laid_out = cut.new_zeros(rows * width, cut.shape[1])
    laid_out[batch.token_index] = cut
    return embeddings.masked_fill(laid_out.view(rows, width, -1), 0)


def _cut(batch: Batch, tokens: Tensor) -> Tensor:
    """Indices of tokens -> (all tokens, 1) of bool."""
    cut = torch.zeros(batch.token_index.numel(), 1, dtype=torch.bool, device=tokens.device)
    cut[tokens] = True
    return cut
