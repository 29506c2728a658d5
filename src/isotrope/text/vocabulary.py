"""A WordPiece vocabulary from raw sentences."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tokenizers import BertWordPieceTokenizer
from transformers import BertTokenizer


def train_wordpiece(sentences: Iterable[str], size: int, *, lowercase: bool = True, max_length: int = 128) -> Any:
    """A BERT tokenizer whose `size` word pieces are learnt from the sentences; the same text gives the same pieces."""
    trainer = BertWordPieceTokenizer(lowercase=lowercase)
    trainer.train_from_iterator(sentences, vocab_size=size, min_frequency=2, show_progress=False)
    return BertTokenizer(vocab=trainer.get_vocab(), do_lower_case=lowercase, model_max_length=max_length)
