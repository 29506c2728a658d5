"""A WordPiece vocabulary from raw sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from tokenizers import BertWordPieceTokenizer
from transformers import BertTokenizer

SPECIALS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
ALPHABET = 1000  # characters at most, the most frequent


def train_wordpiece(
    sentences: Callable[[], Iterable[str]], size: int, *, lowercase: bool = True, max_length: int = 128
) -> Any:
    """A BERT tokenizer whose `size` word pieces are learnt from the sentences; the same text gives the same.

    `sentences` gives all of them anew each time. The trainer numbers characters within a word ("##a") in the order of a
    hash table, another one in each process, and goes by number where two pairs of pieces are equally frequent. So these
    are handed to it in order, as if they were special.
    """
    trainer = BertWordPieceTokenizer(lowercase=lowercase)
    alphabet = _alphabet(sentences(), trainer)
    inner = [f"##{character}" for character in alphabet if _goes_on(character, trainer)]
    trainer.train_from_iterator(
        sentences(),
        vocab_size=size,
        min_frequency=2,
        initial_alphabet=alphabet,
        limit_alphabet=len(alphabet),
        special_tokens=[*SPECIALS, *inner],
        show_progress=False,
    )
    pieces = sorted(set(trainer.get_vocab()) - set(SPECIALS))
    vocabulary = {piece: number for number, piece in enumerate([*SPECIALS, *pieces])}
    return BertTokenizer(vocab=vocabulary, do_lower_case=lowercase, model_max_length=max_length)


def _alphabet(sentences: Iterable[str], trainer: BertWordPieceTokenizer) -> list[str]:
    """The most frequent characters of the text as the tokenizer normalises them, in order."""
    raw: Counter[str] = Counter()
    for sentence in sentences:
        raw.update(sentence)
    normalised: Counter[str] = Counter()
    for character, count in raw.items():
        for each in trainer.normalizer.normalize_str(character).strip():
            normalised[each] += count
    frequent = sorted(normalised, key=lambda character: (-normalised[character], character))
    return sorted(frequent[:ALPHABET])


def _goes_on(character: str, trainer: BertWordPieceTokenizer) -> bool:
    """Whether a word may go on with a character: not with punctuation, nor with a Chinese one."""
    return len(trainer.pre_tokenizer.pre_tokenize_str(trainer.normalizer.normalize_str(f"a{character}"))) == 1
