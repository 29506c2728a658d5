from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import ByteLevelBPETokenizer
from transformers import AutoModelForMaskedLM, AutoTokenizer, RobertaConfig, RobertaForMaskedLM, RobertaTokenizerFast

import isotrope
from isotrope.encoders.loading import BUNDLED
from isotrope.io.errors import IsotropeError
from isotrope.text import bundled_sentences
from isotrope.views.text import make_text_view, masked
from isotrope.views.text.masked import Masked, MaskedModel, MaskedSpec, MaskedSubstitutes

SENTENCES = bundled_sentences()[:40]
ODD = [
    "",
    " ",
    "..",
    "[MASK] [SEP] [CLS]",
    "Über 3,5 % café 你好 \U0001f600",
    "A\tB\nC",
    "word " * 300,
    "I, too, AM HERE.",
]
MODEL = MaskedModel("bundled")


@pytest.fixture(scope="module")
def roberta(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A byte-level, cased vocabulary, and weights from nowhere."""
    folder = tmp_path_factory.mktemp("roberta")
    specials = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    tokenizer = ByteLevelBPETokenizer()
    tokenizer.train_from_iterator(bundled_sentences(), vocab_size=1000, special_tokens=specials)
    tokenizer.save_model(str(folder))
    RobertaTokenizerFast.from_pretrained(folder, model_max_length=64).save_pretrained(folder)
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    torch.manual_seed(0)
    RobertaForMaskedLM(RobertaConfig(vocab_size=1000, max_position_embeddings=66, **sizes)).save_pretrained(folder)
    return folder


def view(model: MaskedModel = MODEL, **options: Any) -> MaskedSubstitutes:
    made = MaskedSpec(**options).make()
    made.model = model  # loaded once for all tests
    return made


def naive(text: str, one: Masked) -> str:
    """The sentence by itself, padded nowhere, every logit computed, one guess after another from the right."""
    model = AutoModelForMaskedLM.from_pretrained(BUNDLED, dtype=torch.float32).eval()
    tokenizer = AutoTokenizer.from_pretrained(BUNDLED)
    with torch.no_grad():
        logits = model(torch.tensor([one.token_ids])).logits[0]
    kinds = [
        None if i in tokenizer.all_special_ids else masked._kind(t, s)
        for i, (t, s) in enumerate(
            zip(tokenizer.convert_ids_to_tokens(range(len(tokenizer))), MODEL.surfaces, strict=True)
        )
    ]
    for place, original, (start, end) in reversed(list(zip(one.places, one.originals, one.spans, strict=True))):
        allowed = [i for i, kind in enumerate(kinds) if kind == kinds[original]]
        guess = max(allowed, key=lambda i: float(logits[place, i]))
        if guess != original:
            piece = masked._capitals_of(text[start:end], MODEL.surfaces[guess], start == 0)
            text = text[:start] + piece + text[end:]
    return text


def test_the_guesses_are_the_likeliest_of_their_kind() -> None:
    substitutes = view()
    texts = SENTENCES[:8]
    assert substitutes(texts) == [naive(text, substitutes._mask(text)) for text in texts]


@given(st.sampled_from(SENTENCES), st.sampled_from([0.05, 0.2, 0.5, 1.0]), st.integers(0, 3))
@settings(max_examples=50, deadline=None)
def test_the_share_of_masked_tokens_is_exact(text: str, rate: float, seed: int) -> None:
    one = view(rate=rate, seed=seed)._mask(text)
    ids, spans = MODEL.tokenize(text)
    assert len(one.places) == max(1, round(rate * (len(ids) - 2)))  # [CLS] and [SEP] are never masked
    assert spans[0] is spans[-1] is None
    assert {i for i, token in enumerate(one.token_ids) if token == MODEL.mask_id} == set(one.places)
    assert [ids[i] for i in one.places] == one.originals
    assert [text[start:end].lower() for start, end in one.spans] == [MODEL.surfaces[token] for token in one.originals]


@given(st.text(max_size=60))
@settings(max_examples=60, deadline=None)
def test_any_text_is_taken_and_what_is_not_masked_stays(text: str) -> None:
    substitutes = view()
    (other,) = substitutes([text])
    kept, done = [], 0
    for start, end in substitutes._mask(text).spans:
        kept.append(text[done:start])
        done = end
    assert re.fullmatch(".+".join(map(re.escape, [*kept, text[done:]])), other, re.DOTALL)


def test_odd_texts() -> None:
    views = view(rate=1.0)(ODD)
    assert views[:2] == ODD[:2]
    assert views[3] == "[MASK] [SEP] [CLS]"
    assert views[5].count("\t") == views[5].count("\n") == 1
    assert views[6].endswith("word " * 100), "what the model can't read stays"
    assert all(word not in "".join(views[4:]) for word in ("##", "[UNK]", "[PAD]"))


def test_capitals_stay_where_the_model_knows_none() -> None:
    assert not MODEL.cased
    cases = {("Dog", True): "Cat", ("dog", True): "cat", ("DOG", False): "CAT", ("Dog", False): "Cat"}
    for (old, first), new in cases.items():
        assert masked._capitals_of(old, "cat", first) == new
    assert masked._capitals_of("I", "we", first=True) == "We"
    assert masked._capitals_of("I", "we", first=False) == "we"


@pytest.mark.parametrize("batch_size", [1, 3, 64])
def test_a_view_does_not_depend_on_what_is_beside_it(batch_size: int) -> None:
    once = view()(SENTENCES)
    assert view(batch_size=batch_size)(SENTENCES[::-1]) == once[::-1]
    assert view(seed=2)(SENTENCES) != once


def test_what_is_close_to_call_is_decided_by_the_sentence_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the batch the logits differ a little, by much less than is taken for close; so every guess is as alone."""
    substitutes = view()
    batch = [substitutes._mask(text) for text in SENTENCES]
    alone = [MODEL.best([one]) for one in batch]
    _, together = MODEL.best(batch)
    worst = max(
        abs(a - b)
        for one, margins in zip(alone, together, strict=True)
        for a, b in zip(one[1][0], margins, strict=True)
    )
    assert 0 < worst < masked.CLOSE / 10
    calls = []
    best = MODEL.best
    monkeypatch.setattr(masked, "CLOSE", 0.1)
    monkeypatch.setattr(MODEL, "best", lambda sentences: calls.append(len(sentences)) or best(sentences))
    assert substitutes._guesses(batch) == [one[0][0] for one in alone]
    assert calls == [len(batch)] + [1] * sum(min(margins) < 0.1 for margins in together)
    assert len(calls) > 1


def test_real_sentences_at_the_papers_rate() -> None:
    views = view()(SENTENCES)
    changed = sum(a != b for a, b in zip(views, SENTENCES, strict=True))
    assert changed > 0.7 * len(SENTENCES)
    assert all(len(a.split()) == len(b.split()) for a, b in zip(views, SENTENCES, strict=True))


def test_a_byte_level_vocabulary(roberta: Path) -> None:
    substitutes = MaskedSpec(rate=0.5, model=roberta).make()
    assert substitutes.model.cased
    assert substitutes.model.backbone.packs
    texts = [*SENTENCES, *ODD, "naïve façade 你好"]
    views = substitutes(texts)
    assert views[::-1] == MaskedSpec(rate=0.5, model=roberta, batch_size=5).make()(texts[::-1])
    for text, other in zip(SENTENCES, views, strict=False):
        assert other != text
        assert len(other.split(" ")) == len(text.split(" "))
    assert not any("\ufffd" in one or "Ġ" in one or "<" in one for one in views)


def test_what_decides_the_result_is_in_the_parameters(roberta: Path) -> None:
    parameters = view(rate=0.5, seed=7, batch_size=3).parameters
    assert json.loads(json.dumps(parameters)) == parameters
    weights = parameters.pop("weights")
    assert parameters == {"kind": "mlm", "rate": 0.5, "seed": 7, "model": "bundled"}
    assert weights == MaskedModel("bundled").fingerprint != MaskedModel(str(roberta)).fingerprint


@pytest.mark.parametrize("rate", [0, -0.1, 1.1])
def test_a_rate_that_is_no_share_is_refused(rate: float) -> None:
    with pytest.raises(IsotropeError, match="'mlm': rate: Input should be"):
        make_text_view("mlm", rate=rate)


def test_a_model_without_its_output_layer_is_refused(tmp_path: Path) -> None:
    isotrope.load().save(tmp_path / "encoder")
    with pytest.raises(
        IsotropeError, match="is not a masked language model: its output layer or its mask token is missing"
    ):
        MaskedSpec(model=tmp_path / "encoder").make()(["A dog."])
    with pytest.raises(IsotropeError, match="not a model folder"):
        MaskedSpec(model=tmp_path).make()(["A dog."])
    with pytest.raises(IsotropeError, match="no folder 'no/such' here"):
        MaskedSpec(model="no/such").make()(["A dog."])


def test_half_precision_does_not_depend_on_the_batch() -> None:
    one = MaskedSpec(precision="bfloat16").make()(SENTENCES)
    other = MaskedSpec(precision="bfloat16", batch_size=5).make()(SENTENCES[::-1])
    assert one == other[::-1]
    same = sum(a == b for a, b in zip(one, view()(SENTENCES), strict=True))
    assert len(SENTENCES) > same > 0.8 * len(SENTENCES)
