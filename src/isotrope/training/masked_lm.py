"""Masked language modelling on packed batches: BERT's own objective, for pre-training."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.utils.data import Dataset
from transformers import BertForMaskedLM

from isotrope.encoders.packing import Batch, lay_out, rounded_up
from isotrope.objectives.masked_lm import IGNORED, Masker

IntArray = np.ndarray[Any, np.dtype[np.integer[Any]]]
ROWS = 64  # of logits that are worked on at a time: over some thousand words they stay in a processor's cache


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
        coarse: bool = False,
    ) -> None:
        self.text, self.seed, self.rank, self.world, self.coarse = text, seed, rank, world, coarse
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
        batch = lay_out(sentences, self.pad_id, coarse=self.coarse)
        generator = torch.Generator().manual_seed(self.seed * 1_000_003 + k)
        shown, targets = self.masker(batch.input_ids, generator)
        batch.input_ids.copy_(shown)
        asked = (targets != IGNORED).sum() / self.world
        if self.rank >= len(targets):  # there is no row for this process: it looks on
            return {"batch": batch, "targets": torch.full_like(targets, IGNORED), "asked": asked}
        rows = torch.arange(self.rank, len(targets), self.world)
        return {"batch": batch.part(rows)[0], "targets": targets[rows], "asked": asked}


class OutputLoss(torch.autograd.Function):
    """The output layer and its cross-entropy, summed, in one.

    The gradient of the logits, softmax - one-hot, is found on the way forward, some rows at a time, and written over
    them. torch writes out five matrices as large as all logits instead, which took a third of a step.
    """

    @staticmethod
    def forward(
        ctx: Any, vectors: Tensor, words: Tensor, bias: Tensor, targets: Tensor, rows: int = ROWS
    ) -> tuple[Tensor, Tensor]:
        """Vectors (masked, dim), words (vocabulary, dim), targets -> summed loss, how many were guessed right.

        There may be fewer targets than vectors: nothing is asked of the last ones.
        """
        device = vectors.device.type
        kind = torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else vectors.dtype
        vectors, words = vectors.to(kind), words.to(kind)
        logits = torch.addmm(bias.to(kind), vectors, words.T)  # (masked, vocabulary)
        logits[len(targets) :] = 0
        exact = logits.new_empty((2, rows, len(words)), dtype=torch.promote_types(kind, torch.float32))
        loss = right = exact.new_zeros(())
        for some, wanted in zip(torch.split(logits[: len(targets)], rows), torch.split(targets, rows), strict=True):
            copied, log_p = exact[:, : len(some)]
            torch.log_softmax(copied.copy_(some), -1, out=log_p)
            found = log_p.gather(1, wanted[:, None])
            loss, right = loss - found.sum(), right + (found >= log_p.amax(-1, keepdim=True)).sum()
            some.copy_(log_p.exp_().scatter_add_(1, wanted[:, None], torch.full_like(found, -1)))
        ctx.save_for_backward(logits, vectors, words)
        ctx.mark_non_differentiable(right)
        return loss, right

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *after: Tensor) -> tuple[Tensor | None, ...]:
        """Gradients of vectors, words and bias, by that of the loss."""
        gradient, vectors, words = ctx.saved_tensors
        found = gradient @ words, gradient.T @ vectors, gradient.sum(0)
        return *(one.to(after[0].dtype) * after[0] for one in found), None, None


class MaskedLM(BertForMaskedLM):  # type: ignore[misc]
    """A BERT masked LM that takes packed batches and computes at the masked positions only what nothing else needs:
    of the last layer what follows attention, and the output layer.
    """

    def forward(self, batch: Batch, targets: Tensor, asked: Tensor) -> dict[str, Tensor]:
        """Mean cross-entropy over the masked tokens, and the share of them that was guessed right.

        `asked` is how many masked tokens each process has in the mean: the mean over processes is that of all tokens.
        """
        flat = targets.flatten()
        masked = (flat != IGNORED).nonzero().squeeze(1)
        output = self.cls.predictions
        vectors = output.transform(self._last_layer(batch, self._few_counts(masked)))
        decoder = output.decoder
        loss, right = OutputLoss.apply(vectors, decoder.weight, decoder.bias, flat[masked])  # type: ignore[no-untyped-call]
        return {"loss": loss / asked, "accuracy": right / asked}

    def _few_counts(self, masked: Tensor) -> Tensor:
        """In bfloat16, some places twice, so that their number is of few (see `lay_out`)."""
        if not torch.is_autocast_enabled(masked.device.type):
            return masked
        return torch.cat([masked, masked.new_zeros(rounded_up(len(masked), ROWS) - len(masked))])

    def _last_layer(self, batch: Batch, where: Tensor) -> Tensor:
        """The last layer's vectors at some of the flattened positions, (some, dim), as `self.bert` gives them."""
        *layers, last = self.bert.encoder.layer
        mask = batch.block_mask(self.dtype)
        hidden = self.bert.embeddings(batch.input_ids, position_ids=batch.position_ids)
        for layer in layers:
            hidden = layer(hidden, mask)
        context, _ = last.attention.self(hidden, mask)
        attended = last.attention.output(context.flatten(0, 1)[where], hidden.flatten(0, 1)[where])
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
