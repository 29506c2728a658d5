"""The pre-trained transformer: token ids in, every layer's token vectors out, packed where that is exact."""

from __future__ import annotations

import logging
from typing import Any

import torch
from torch import Tensor, nn

from isotrope.encoders.packing import Batch, lay_out

log = logging.getLogger(__name__)

PROBE_TOLERANCE = 1e-4  # relative to the largest vector component; a leak between sentences is orders above it


class Backbone(nn.Module):
    """Any Hugging Face encoder. Knows whether it may be packed, and where its position ids begin."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model
        self.config: Any = model.config
        self.layers: int = self.config.num_hidden_layers
        self.dim: int = self.config.hidden_size
        self.position_offset, self.packs = 0, False
        self._probe()

    @property
    def dtype(self) -> torch.dtype:
        """Floating-point type of the weights."""
        return next(self.model.parameters()).dtype

    def forward(self, batch: Batch) -> Tensor:
        """The last layer, (rows, width, dim)."""
        hidden: Tensor = self.model(**self._inputs(batch)).last_hidden_state
        return hidden

    def hidden_states(self, batch: Batch) -> tuple[Tensor, ...]:
        """Layer 0 (the embeddings), 1, ... `layers`, each (rows, width, dim)."""
        states: tuple[Tensor, ...] = self.model(**self._inputs(batch), output_hidden_states=True).hidden_states
        return states

    def _inputs(self, batch: Batch) -> dict[str, Tensor]:
        inputs = {"input_ids": batch.input_ids, "attention_mask": batch.attention_mask(self.dtype)}
        if batch.packed:
            inputs["position_ids"] = batch.position_ids + self.position_offset
        return inputs

    @torch.no_grad()
    def _probe(self) -> None:
        """Packs three short made-up sentences and compares with padding: numbers decide, not the model's name.

        RoBERTa and its kin count positions from `pad_token_id + 1`; both beginnings are tried. What sees beyond its own
        sentence (MobileBERT's trigrams) or takes no position ids or 4-D mask is padded from then on.
        """
        was_training = self.model.training
        self.model.eval()
        pad = self.config.pad_token_id or 0
        ids = torch.arange(3, 3 + 60) % (self.config.vocab_size - pad - 1) + pad + 1
        sentences = [piece.tolist() for piece in ids.split([27, 14, 19])]
        device = next(self.model.parameters()).device
        padded = lay_out(sentences, pad, pack=False).to(device)
        packed = lay_out(sentences, pad).to(device)
        wanted = padded.flatten(self(padded))
        for offset in (0, pad + 1):
            self.position_offset = offset
            try:
                difference = (packed.flatten(self(packed)) - wanted).abs().max()
            except (TypeError, ValueError, RuntimeError, IndexError) as error:
                log.debug("packing probe with position offset %d: %s", offset, error)
                continue
            if difference <= PROBE_TOLERANCE * wanted.abs().max():
                self.packs = True
                break
        else:
            log.debug("%s can't be packed exactly; its batches are padded", type(self.model).__name__)
            self.position_offset = 0
        self.model.train(was_training)
