"""A WordPiece vocabulary from raw sentences."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tokenizers import BertWordPieceTokenizer
from transformers import BertTokenizer

SPECIALS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def train_wordpiece(sentences: Iterable[str], size: int, *, lowercase: bool = True, max_length: int = 128) -> Any:
    """A BERT tokenizer whose `size` word pieces are learnt from the sentences; the same text gives the same."""
    trainer = BertWordPieceTokenizer(lowercase=lowercase)
    trainer.train_from_iterator(sentences, vocab_size=size, min_frequency=2, show_progress=False)
    pieces = sorted(set(trainer.get_vocab()) - set(SPECIALS))  # the trainer numbers them another way each time
    vocabulary = {piece: number for number, piece in enumerate([*SPECIALS, *pieces])}
    return BertTokenizer(vocab=vocabulary, do_lower_case=lowercase, model_max_length=max_length)
