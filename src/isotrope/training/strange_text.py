"""Text that an encoder's vocabulary was not made for: words fall into many pieces, or get lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from isotrope.encoders import Encoder
from isotrope.text.languages import UNCLEAR, language_shares
from isotrope.text.survey import Survey

PIECES, UNKNOWN = 1.8, 0.05  # tokens of a word, and share of unknown ones, above which a vocabulary does not fit
LONGEST_WORD = 15  # letters of an average word, beyond which it is no word
MOST = 0.8  # share of a language from which on the text is in it
SEVERAL = "several"  # languages, none of which most of the text is in
NAMED = 3  # unknown characters


def strange_text(survey: Survey, reader: Encoder, columns: Collection[str] | None = None) -> Iterator[str]:
    """A line where the vocabulary does not fit the language of the text, or else where much of the text is unknown.

    `columns` are those that the encoder reads, if others are in the text that it does not.
    """
    texts = survey.texts(columns)
    words = [word for text in texts for word in text.split()]
    if not words:
        return
    encoded = reader.tokenizer(texts, add_special_tokens=False, verbose=False)
    ids = [one for text in encoded["input_ids"] for one in text]
    pieces, unknown = len(ids) / len(words), ids.count(reader.tokenizer.unk_token_id) / max(len(ids), 1)
    if unknown <= UNKNOWN and pieces <= PIECES:
        return
    characters = _unknown_characters(reader.tokenizer, "".join(words)) if unknown > UNKNOWN else []
    language = _language(language_shares(texts))
    split = language is not None and pieces > PIECES and _has_spaces(words)
    if language != "en" and (split or any(map(str.isalpha, characters))):
        yield (
            f"Warning: {reader.name} splits each word of this text into {pieces:.1f} pieces on average and does not "
            f"know {unknown:.0%} of these; {_other_encoder(language)} may suit it better"
        )
    elif unknown > UNKNOWN:
        such = f" (characters such as {' '.join(characters)})" if characters else ""
        yield f"Warning: {reader.name} does not know {unknown:.0%} of this text{such} and can't tell these parts apart"


def _language(shares: Mapping[str, float]) -> str | None:
    """What most of the text is in, of which the language is clear; None if that is less than half."""
    clear = {language: share for language, share in shares.items() if language != UNCLEAR}
    whole = sum(clear.values())
    if whole <= shares.get(UNCLEAR, 0):
        return None
    language = max(clear, key=clear.__getitem__)
    return language if clear[language] >= MOST * whole else SEVERAL


def _other_encoder(language: str | None) -> str:
    if language is None:
        return "another encoder"
    return "a multilingual encoder" if language == SEVERAL else f"an encoder for the language '{language}'"


def _unknown_characters(tokenizer: Any, text: str) -> list[str]:
    """Those that are in no word of the vocabulary, the most frequent ones."""
    counts = Counter(filter(str.isprintable, text))
    ids = tokenizer(list(counts), add_special_tokens=False)["input_ids"]
    unknown = {one for one, found in zip(counts, ids, strict=True) if tokenizer.unk_token_id in found}
    return [one for one, _ in counts.most_common() if one in unknown][:NAMED]


def _has_spaces(words: Sequence[str]) -> bool:
    return sum(map(len, words)) / len(words) < LONGEST_WORD  # else the language writes none between words
