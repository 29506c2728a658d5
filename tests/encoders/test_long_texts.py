"""Very long texts are cut before they are tokenized, and no token that is read changes by it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Regex, Tokenizer, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

import isotrope
from isotrope.encoders import long_texts
from isotrope.encoders.long_texts import beginning
from isotrope.text import bundled_sentences

LONGEST = 12
WORDS = [
    *"aZé7,.'-!中文字かな한ا😀\u0301\u200d\n\t \u3000",
    "  ",
    "the ",
    "don't ",
    "12345",
    "[SEP]",
    "[MASK] ",
    "naïve",
]
# a repeated beginning, so that some texts have spaces, some none, and some are one word
TEXTS = st.builds(
    lambda start, again, times, end: "".join([*start, *again * times, *end]),
    *(st.lists(st.sampled_from(WORDS), min_size=least, max_size=30) for least in (0, 1)),
    st.integers(50, 500),
    st.lists(st.sampled_from(WORDS), max_size=9),
)
FROM_THE_RIGHT = pre_tokenizers.Split(Regex(r"\d{1,3}(?=(?:\d{3})*\b)|\s*[\r\n]+|\s+(?!\S)| ?\D"), "isolated")


def trained(model: Any, trainer: Callable[..., Any], before: Any) -> Any:
    tokenizer = Tokenizer(model)
    if before is not None:
        tokenizer.pre_tokenizer = before
    special = ["[UNK]", "[PAD]", "[SEP]", "[MASK]"]
    tokenizer.train_from_iterator(bundled_sentences()[:500], trainer(special_tokens=special, vocab_size=600))
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="[UNK]", pad_token="[PAD]")


def unigram(**options: Any) -> Any:
    return trainers.UnigramTrainer(unk_token="[UNK]", **options)


TOKENIZERS: dict[str, Callable[[], Any]] = {
    "bundled": lambda: isotrope.load("bundled").tokenizer,
    "small": lambda: isotrope.load("small").tokenizer,
    "bytes": lambda: trained(models.BPE(), trainers.BpeTrainer, pre_tokenizers.ByteLevel()),
    "unigram": lambda: trained(models.Unigram(), unigram, pre_tokenizers.Metaspace()),
    "one word": lambda: trained(models.BPE(unk_token="[UNK]"), trainers.BpeTrainer, None),
    "digits": lambda: trained(models.BPE(unk_token="[UNK]"), trainers.BpeTrainer, FROM_THE_RIGHT),
}


@pytest.fixture(scope="module", params=[*TOKENIZERS, "minilm"])
def tokenizer(request: pytest.FixtureRequest) -> Iterator[Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(long_texts, "LEAST", 100)  # so that texts of some thousand characters are very long
        minilm = request.param == "minilm"
        yield request.getfixturevalue("minilm").tokenizer if minilm else TOKENIZERS[request.param]()


@given(TEXTS)
@settings(max_examples=50)
def test_the_tokens_that_are_read_are_those_of_the_whole_text(tokenizer: Any, text: str) -> None:
    start = beginning(tokenizer, text, LONGEST)
    if start != text:
        assert text.startswith(start)
        ids, whole = tokenizer([start, text], add_special_tokens=False, verbose=False)["input_ids"]
        assert ids[:LONGEST] == whole[:LONGEST]
        assert len(ids) > LONGEST  # so that it is known to be cut


@pytest.fixture
def handed_over(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many characters each call of a tokenizer was given."""
    seen: list[int] = []
    plain = PreTrainedTokenizerFast.__call__

    def counted(self: Any, texts: list[str], **options: Any) -> Any:
        seen.append(sum(map(len, texts)))
        return plain(self, texts, **options)

    monkeypatch.setattr(PreTrainedTokenizerFast, "__call__", counted)
    return seen


@pytest.mark.parametrize("unit", ["A dog barks at the moon. ", "狗对着月亮叫。", "well-known,"])
def test_of_a_line_of_two_megabytes_little_is_tokenized(unit: str, handed_over: list[int]) -> None:
    encoder, texts = isotrope.load(), [unit * (2_000_000 // len(unit)), "A cat."]
    ids = encoder.tokenize(texts)
    assert [len(one) for one in ids] == [encoder.max_seq_length, 5]
    assert encoder.truncated == 1
    assert encoder.too_long(texts) == [True, False]
    assert sum(handed_over) < 5 * long_texts.LETTERS * encoder.max_seq_length


def test_texts_of_ordinary_length_are_tokenized_once(handed_over: list[int]) -> None:
    encoder, texts = isotrope.load(), bundled_sentences()[:50]
    encoder.tokenize([*texts, " ".join(texts)])
    assert len(handed_over) == 1


def test_a_text_that_begins_with_nothing_is_read_on(handed_over: list[int]) -> None:
    encoder, words = isotrope.load(), " ".join(bundled_sentences()[:50])
    assert encoder.tokenize([" " * 10_000 + words + " " * 200_000]) == encoder.tokenize([words])
    assert max(handed_over) < 20_000


def test_the_end_of_a_text_is_looked_for_where_it_is_what_is_read() -> None:
    tokenizer = TOKENIZERS["bytes"]()
    text = "A dog. " * 100_000
    assert len(beginning(tokenizer, text, 8)) < 2_000
    tokenizer.truncation_side = "left"
    assert beginning(tokenizer, text, 8) == text
