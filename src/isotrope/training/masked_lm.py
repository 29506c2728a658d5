"""Masked language modelling on packed batches: BERT's own objective, for pre-training."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional
from torch.utils.data import Dataset
from transformers import BertForMaskedLM

from isotrope.encoders.packing import Batch, lay_out
from isotrope.objectives.masked_lm import IGNORED, Masker

IntArray = np.ndarray[Any, np.dtype[np.integer[Any]]]


class TokenizedText:
    """Sentences as one long array of token ids, without specials, and how long each is. Memory-mapped from disk.

    `source` tells which file a sentence came from, `weights` how often a file's sentences come in one epoch: 2 is
    twice each, 0.5 another half of them every time.
    """

    def __init__(
        self, tokens: IntArray, lengths: IntArray, source: IntArray | None = None, weights: Sequence[float] = (1.0,)
    ) -> None:
        self.tokens, self.lengths, self.weights = tokens, lengths, tuple(weights)
        self.source = np.zeros(len(lengths), dtype=np.int64) if source is None else source
        self.ends = np.cumsum(lengths, dtype=np.int64)

    def __getitem__(self, i: int) -> list[int]:
        """Token ids of sentence `i`."""
        ids: list[int] = self.tokens[self.ends[i] - self.lengths[i] : self.ends[i]].tolist()
        return ids

    def epoch(self, generator: np.random.Generator) -> IntArray:
        """One pass over the text by its weights, in random order: indexes of sentences."""
        parts = []
        for k, weight in enumerate(self.weights):
            members = generator.permutation(np.flatnonzero(self.source == k))
            whole, rest = int(weight), weight % 1
            some = max(round(rest * len(members)), int(rest > 0))  # never none: the plan would not come to an end
            parts += [members] * whole + [members[:some]]
        return generator.permutation(np.concatenate(parts))


class MaskedBatches(Dataset[dict[str, Any]]):
    """Batch number k of a whole run: sentences in a seeded order, as many as fill a budget of tokens, masked.

    A batch depends on the seed and its own number only, so a resumed run sees what the uninterrupted one would have.
    Process `rank` of `world` gets its share of every batch, and the masked tokens of the whole, `asked`.
    """

    def __init__(
        self,
        text: TokenizedText,
        tokenizer: Any,
        *,
        batches: int,
        batch_tokens: int,
        seed: int,
        masked: float = 0.2,
        rank: int = 0,
        world: int = 1,
    ) -> None:
        self.text, self.seed, self.rank, self.world = text, seed, rank, world
        self.pad_id, self.cls_id, self.sep_id = tokenizer.pad_token_id, tokenizer.cls_token_id, tokenizer.sep_token_id
        self.masker = Masker(tokenizer, masked)
        self.order, self.bounds = self._plan(batches, batch_tokens)

    def _plan(self, batches: int, batch_tokens: int) -> tuple[IntArray, IntArray]:
        """The order of all sentences seen, epoch after epoch, and where each batch begins in it."""
        generator = np.random.default_rng(self.seed)
        sizes = self.text.lengths.astype(np.int64) + 2  # [CLS] and [SEP]
        epochs, tokens = [], 0
        while tokens < (batches + 1) * batch_tokens:
            epochs.append(self.text.epoch(generator))
            tokens += int(sizes[epochs[-1]].sum())
        order = np.concatenate(epochs)
        bounds = np.searchsorted(np.cumsum(sizes[order]), np.arange(batches + 1) * batch_tokens, side="right")
        return order, bounds

    def __len__(self) -> int:
        return len(self.bounds) - 1

    def __getitem__(self, k: int) -> dict[str, Any]:
        sentences = [[self.cls_id, *self.text[i], self.sep_id] for i in self.order[self.bounds[k] : self.bounds[k + 1]]]
        batch = lay_out(sentences, self.pad_id)
        generator = torch.Generator().manual_seed(self.seed * 1_000_003 + k)
        shown, targets = self.masker(batch.input_ids, generator)
        batch.input_ids.copy_(shown)
        asked = (targets != IGNORED).sum() / self.world
        if self.rank >= len(targets):  # there is no row for this process: it looks on
            return {"batch": batch, "targets": torch.full_like(targets, IGNORED), "asked": asked}
        rows = torch.arange(self.rank, len(targets), self.world)
        return {"batch": batch.part(rows)[0], "targets": targets[rows], "asked": asked}


class MaskedLM(BertForMaskedLM):  # type: ignore[misc]
    """A BERT masked LM that takes packed batches and computes at the masked positions only what nothing else needs:
    of the last layer what follows attention, and the output layer.
    """

    def forward(self, batch: Batch, targets: Tensor, asked: Tensor) -> dict[str, Tensor]:
        """Mean cross-entropy over the masked tokens, and the share of them that was guessed right.

        `asked` is how many masked tokens each process has in the mean: the mean over processes is that of all tokens.
        """
        masked = targets != IGNORED
        logits = self.cls(self._last_layer(batch, masked)).float()  # (masked, vocabulary)
        right = (logits.argmax(-1) == targets[masked]).float().sum() / asked
        return {"loss": functional.cross_entropy(logits, targets[masked], reduction="sum") / asked, "accuracy": right}

    def _last_layer(self, batch: Batch, masked: Tensor) -> Tensor:
        """The last layer's vectors where `masked` (rows, width) is true, (masked, dim), as `self.bert` gives them."""
        *layers, last = self.bert.encoder.layer
        mask = batch.block_mask(self.dtype)
        hidden = self.bert.embeddings(batch.input_ids, position_ids=batch.position_ids)
        for layer in layers:
            hidden = layer(hidden, mask)
        context, _ = last.attention.self(hidden, mask)
        attended = last.attention.output(context[masked], hidden[masked])
        vectors: Tensor = last.feed_forward_chunk(attended)
        return vectors


@torch.no_grad()
def masked_loss(model: MaskedLM, batches: MaskedBatches) -> tuple[float, float]:
    """Held-out loss and accuracy, each averaged over masked tokens. The same batches ask the same of every model."""
    was_training = model.training
    model.eval()
    loss = right = asked = 0.0
    for k in range(len(batches)):
        item = batches[k]
        n = int(item["asked"])
        device = next(model.parameters()).device
        found = model(**{name: value.to(device) for name, value in item.items()})
        loss, right, asked = loss + n * float(found["loss"]), right + n * float(found["accuracy"]), asked + n
    model.train(was_training)
    return loss / asked, right / asked
