"""Encoders of any make: whatever sentence-transformers loads, for all that needs vectors and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sentence_transformers import SentenceTransformer
from torch import nn

from isotrope.encoders.card import foreign_card
from isotrope.encoders.encoder import Encoder
from isotrope.encoders.pooling import Pooling
from isotrope.encoders.precision import dtype_of
from isotrope.encoders.saving import write
from isotrope.encoders.similarity import Similarities
from isotrope.encoders.streaming import CHUNK_BATCHES
from isotrope.io.errors import IsotropeError


class ForeignEncoder(Similarities, nn.Module):
    """A SentenceTransformer behind the part of `Encoder` that gives vectors: word vectors, word counts, poolings of
    other kinds. It has no backbone, so it can be neither tuned nor pooled otherwise.
    """

    pooling = "own"

    def __init__(self, model: SentenceTransformer, name: str = "") -> None:
        super().__init__()
        self.model: Any = model
        self.name = name
        self.truncated = 0  # sentences cut at `max_seq_length` so far
        self.precision = "float32"  # what is computed in; vectors are float32

    @classmethod
    def of(cls, encoder: Encoder, modules: list[nn.Module]) -> ForeignEncoder:
        """Other modules in place of an encoder's own; its name and prompts are kept."""
        model = SentenceTransformer(
            modules=modules,
            device=str(encoder.device),
            prompts=encoder.prompts,
            default_prompt_name=encoder.default_prompt_name,
        )
        return cls(model, name=encoder.name).eval()

    @property
    def dim(self) -> int:
        """Length of a sentence vector."""
        return int(self.model.get_embedding_dimension())

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        device: torch.device = self.model.device
        return device

    @property
    def max_seq_length(self) -> int:
        """Tokens of a sentence that are read; the rest is cut off."""
        return int(min(self.model.max_seq_length or 2**31, 2**31 - 1))  # static ones say infinity

    def with_pooling(self, pooling: Pooling | str) -> ForeignEncoder:
        """Refuses: there is no backbone to pool."""
        raise IsotropeError(f"'{self.name}' has a fixed pooling of its own; leave out the pooling")

    def encode(self, sentences: str | Iterable[str], **options: Any) -> Any:
        """`SentenceTransformer.encode`, with its options, of any iterable of sentences; no bar unless asked for."""
        texts = sentences if isinstance(sentences, str) else list(sentences)
        self._count_truncated([texts] if isinstance(texts, str) else texts)
        dtype = dtype_of(self.precision)
        with torch.autocast(self.device.type, dtype=dtype, enabled=dtype != torch.float32):
            return self.model.encode(texts, **{"show_progress_bar": False, **options})

    def encode_stream(
        self, sentences: Iterable[str], *, batch_size: int = 32, **options: Any
    ) -> Iterator[np.ndarray[Any, np.dtype[np.float32]]]:
        """Vectors in order, in arrays of some thousand rows: constant memory, however many sentences come."""
        source = iter(sentences)
        while chunk := list(islice(source, batch_size * CHUNK_BATCHES)):
            yield self.encode(chunk, batch_size=batch_size, **options)

    def save(self, folder: str | Path, *, card: str | None = None, force: bool = False) -> Path:
        """Writes a sentence-transformers folder with a model card, whole or not at all."""
        return write(self.model, folder, foreign_card(self, card), force=force)

    def _count_truncated(self, texts: list[str]) -> None:
        tokenizer = getattr(self.model[0], "tokenizer", None)
        if texts and callable(tokenizer):  # a transformer's; word tokenizers cut nothing off
            encoded = tokenizer(texts, truncation=True, max_length=self.max_seq_length, return_attention_mask=False)
            self.truncated += sum(bool(one.overflowing) for one in encoded.encodings or ())
