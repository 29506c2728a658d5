from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import BertConfig, BertModel, BertTokenizer

import isotrope
from isotrope.baselines.frequent import without_frequent, without_tokens
from isotrope.evaluation.geometry.frequency import frequent_tokens, vectors_without
from isotrope.io.errors import IsotropeError


@pytest.mark.parametrize("pooling", ["mean", "last2", "mean@2"])
def test_against_the_loop(encoder: isotrope.Encoder, text: list[str], pooling: str) -> None:
    encoder, some = encoder.with_pooling(pooling), text[:20]
    left_out = set(encoder.tokenize(["The man is a [MASK] and the woman in it."])[0])
    found = without_tokens(encoder, left_out).encode(some)
    tokens = encoder.encode(some, output_value="token_embeddings")
    for ids, states, vector in zip(encoder.tokenize(some), tokens, found, strict=True):
        kept = [state.numpy() for i, state in zip(ids, states, strict=True) if i not in left_out]
        assert np.abs(vector - np.mean(kept, axis=0)).max() <= 1e-5


def test_it_agrees_with_the_sensitivity_that_inspect_shows(encoder: isotrope.Encoder, text: list[str]) -> None:
    ranked = frequent_tokens(encoder, text)
    for top, wanted in zip((0, 2, 36), vectors_without(encoder, text[:40], ranked, (0, 2, 36)), strict=True):
        assert np.abs(without_frequent(encoder, iter(text), top).encode(text[:40]) - wanted).max() <= 1e-5


def test_a_sentence_of_nothing_else_keeps_all_its_tokens(encoder: isotrope.Encoder) -> None:
    sentence = "the cat and the dog"
    everything = encoder.tokenize([sentence])[0]
    found = without_tokens(encoder, everything).encode([sentence, "the cat and the mouse"])
    assert np.abs(found[0] - encoder.encode(sentence)).max() <= 1e-5
    assert np.abs(found[1] - encoder.encode("the cat and the mouse")).max() > 0.1


def test_words_that_differ_in_case_are_different(tmp_path: Path) -> None:
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "The", "end"]
    tokenizer = BertTokenizer(vocab={word: i for i, word in enumerate(words)}, do_lower_case=False)
    tokenizer.save_pretrained(tmp_path)
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 16}
    BertModel(BertConfig(vocab_size=8, **sizes)).save_pretrained(tmp_path)
    encoder = isotrope.load(tmp_path)
    found = without_tokens(encoder, [words.index("the")])
    assert np.abs(found.encode("The end") - encoder.encode("The end")).max() <= 1e-6
    assert np.abs(found.encode("the end") - encoder.encode("the end")).max() > 1e-3


def test_what_stands_behind_the_pooling_stays(minilm: isotrope.Encoder, text: list[str]) -> None:
    found = without_frequent(minilm, text, 2).encode(text[:5])
    assert np.allclose(np.linalg.norm(found, axis=1), 1, atol=1e-5)


def test_poolings_without_a_mean(encoder: isotrope.Encoder) -> None:
    with pytest.raises(IsotropeError, match="left out of a mean, not of 'cls' pooling"):
        without_tokens(encoder.with_pooling("cls"), [1])
