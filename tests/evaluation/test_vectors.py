from __future__ import annotations

import copy
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.modules import Normalize
from torch import nn

import isotrope
from isotrope.encoders import ForeignEncoder
from isotrope.evaluation import vectors
from isotrope.evaluation.vectors import fingerprint, remembered, remembered_together, vectors_folder
from isotrope.fits.whitening import whiten
from isotrope.io import store
from isotrope.io.errors import IsotropeError

SENTENCES = ["A cat.", "A dog barked.", "Rain fell.", "A cat.", "Snow is white and cold."]


@pytest.fixture(scope="module")
def encoder() -> isotrope.Encoder:
    return isotrope.load("bundled", device="cpu")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ISOTROPE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def encoded(encoder: isotrope.Encoder, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Every sentence that the encoder itself is given."""
    seen: list[str] = []
    encode = encoder.encode

    def watched(texts: list[str], **options: Any) -> Any:
        seen.extend(texts)
        return encode(texts, **options)

    monkeypatch.setattr(encoder, "encode", watched)
    return seen


def test_nothing_is_encoded_twice_and_the_bits_are_the_same(encoder: isotrope.Encoder, encoded: list[str]) -> None:
    with remembered(encoder) as first:
        fresh = first.encode(SENTENCES)
    assert encoded == ["A cat.", "A dog barked.", "Rain fell.", "Snow is white and cold."]
    assert np.array_equal(fresh[0], fresh[3])
    with remembered(encoder) as second:
        again = second.encode([*reversed(SENTENCES), "Wind."])
    assert encoded[4:] == ["Wind."]
    assert again.dtype == fresh.dtype == np.float32
    assert np.array_equal(again[4::-1], fresh)


def test_without_a_cache_nothing_is_written(encoder: isotrope.Encoder, encoded: list[str], cache: Path) -> None:
    for _ in range(2):
        with remembered(encoder, cache=False) as bare:
            bare.encode(SENTENCES)
            assert bare.once("work", lambda: {"n": len(encoded)}) == {"n": len(encoded)}
    assert len(encoded) == 8
    assert not cache.exists()


def test_what_is_heard_adds_up_to_the_distinct_sentences(encoder: isotrope.Encoder) -> None:
    heard: list[int] = []
    for _ in range(2):
        with remembered(encoder, encoded=heard.append) as some:
            some.encode(SENTENCES)
    assert heard == [0, 4, 4]


def test_what_was_encoded_before_a_crash_is_kept(
    encoder: isotrope.Encoder, encoded: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "ENCODED_AT_ONCE", 2)
    monkeypatch.setattr(store, "AT_ONCE", 3)

    def stop(done: int) -> None:
        if len(encoded) == 2 and done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), remembered(encoder, encoded=stop) as some:
        some.encode(SENTENCES)
    with remembered(encoder) as some:
        found = some.encode(SENTENCES)
    assert len(encoded) == 4
    assert np.allclose(found, encoder.encode(SENTENCES), atol=1e-5)


def test_figures_are_made_once(encoder: isotrope.Encoder) -> None:
    made: list[int] = []

    def make() -> dict[str, Any]:
        made.append(1)
        return {"accuracy": 0.1 + 0.2}

    for _ in range(2):
        with remembered(encoder) as some:
            assert some.once("mr", make) == {"accuracy": 0.1 + 0.2}
            assert some.once("mr, other settings", lambda: {"accuracy": 1}) == {"accuracy": 1}
    assert made == [1]


def test_poolings_of_one_model_go_through_the_text_once(
    encoder: isotrope.Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    passes: list[int] = []
    hidden_states = encoder.backbone.hidden_states
    monkeypatch.setattr(
        encoder.backbone, "hidden_states", lambda batch: passes.append(len(batch.lengths)) or hidden_states(batch)
    )
    variants = [encoder.with_pooling(name) for name in ("mean", "cls", "max@2", "first-last", "cls-mlp")]
    for _ in range(2):
        with remembered_together(variants) as several:
            found = [one.encode(SENTENCES) for one in several]
    assert passes == [4]
    monkeypatch.undo()
    for some, variant in zip(found, variants, strict=True):
        assert np.allclose(some, variant.encode(SENTENCES), atol=1e-5)


def test_what_stands_behind_the_pooling_needs_no_pass_of_its_own(encoder: isotrope.Encoder, encoded: list[str]) -> None:
    whitened = whiten(encoder, SENTENCES, dim=2)
    normalised = whitened.with_after_pooling([*whitened.after_pooling, Normalize()])
    encoded.clear()
    wanted = {}
    for one in (encoder, whitened, normalised):
        with remembered(one) as some:
            wanted[id(one)] = some.encode(SENTENCES)
            assert some.once("dim", lambda one=one: {"tail": len(one.after_pooling)}) == {
                "tail": len(one.after_pooling)
            }
    assert len(encoded) == 4
    assert np.allclose(wanted[id(whitened)], isotrope.Encoder.encode(whitened, SENTENCES), atol=1e-4)
    assert np.allclose(wanted[id(normalised)], isotrope.Encoder.encode(normalised, SENTENCES), atol=1e-5)


# -- what decides an encoder's vectors --------------------------------------------------------------------------------


def test_the_same_encoder_elsewhere_has_the_same_fingerprint(encoder: isotrope.Encoder, tmp_path: Path) -> None:
    encoder.save(tmp_path / "a")
    encoder.save(tmp_path / "b")
    assert fingerprint(isotrope.load(tmp_path / "a")) == fingerprint(isotrope.load(tmp_path / "b"))
    assert fingerprint(encoder) == fingerprint(isotrope.load("bundled"))


def test_whatever_changes_vectors_changes_the_fingerprint(encoder: isotrope.Encoder) -> None:
    found = {fingerprint(encoder)}

    def changed(other: isotrope.Encoder) -> bool:
        before = len(found)
        found.add(fingerprint(other))
        return len(found) == before + 1

    assert changed(encoder.with_pooling("cls"))
    assert changed(encoder.with_pooling("mean@2"))
    assert changed(encoder.with_pooling("cls-mlp"))
    assert changed(isotrope.load("bundled", device="cpu", precision="bfloat16"))
    short = copy.deepcopy(encoder)
    short.max_seq_length = 16
    assert changed(short)
    prompted = copy.deepcopy(encoder)
    prompted.prompts, prompted.default_prompt_name = {"query": "query: "}, "query"
    assert changed(prompted)
    cut = copy.deepcopy(encoder)
    cut.tokenizer.add_tokens(["guitar"])
    assert changed(cut)
    one_bit = copy.deepcopy(encoder)
    with torch.no_grad():
        weight = next(one_bit.backbone.parameters()).view(-1)
        weight[7] = torch.nextafter(weight[7], torch.tensor(9.0))
    assert changed(one_bit)
    dense = encoder.with_pooling("cls-mlp")
    dense.after_pooling[0].activation_function = nn.Identity()  # type: ignore[assignment]
    assert changed(dense)


def test_a_tokenizer_without_a_backend_is_its_vocabulary(encoder: isotrope.Encoder) -> None:
    class Slow:
        model_max_length = 128

        def __init__(self, *words: str) -> None:
            self.words = words

        def get_vocab(self) -> dict[str, int]:
            return {word: i for i, word in enumerate(self.words)}

    def with_tokenizer(tokenizer: Slow) -> isotrope.Encoder:
        other = copy.copy(encoder)
        other._held = (SimpleNamespace(tokenizer=tokenizer),)
        return other

    one, same, other = (fingerprint(with_tokenizer(Slow(*words))) for words in ("ab", "ab", "ba"))
    assert one == same != other


def test_an_encoder_of_another_make_is_what_it_saves(encoder: isotrope.Encoder, tmp_path: Path) -> None:
    encoder.save(tmp_path / "model")
    plain = ForeignEncoder(SentenceTransformer(str(tmp_path / "model"), device="cpu"), name="x")
    same = ForeignEncoder(SentenceTransformer(str(tmp_path / "model"), device="cpu"), name="y")
    assert fingerprint(plain) == fingerprint(same) != fingerprint(encoder)
    with torch.no_grad():
        next(same.model.parameters()).mul_(2)
    assert fingerprint(plain) != fingerprint(same)
    normalised = ForeignEncoder(SentenceTransformer(modules=[*plain.model, Normalize()], device="cpu"))
    assert fingerprint(plain) != fingerprint(normalised)
    with remembered(plain) as some:
        assert np.allclose(some.encode(SENTENCES), encoder.encode(SENTENCES), atol=1e-5)


def test_what_can_not_be_looked_into_is_not_cached(cache: Path) -> None:
    class Lengths:
        def encode(self, sentences: list[str], *, batch_size: int = 64) -> Any:
            return np.array([[len(text), 1.0] for text in sentences])

    with remembered(Lengths()) as some:
        assert some.encode(["a", "abc", "a"]).tolist() == [[1, 1], [3, 1], [1, 1]]
    assert not cache.exists()


# -- the folder -------------------------------------------------------------------------------------------------------


def test_what_was_used_longest_ago_makes_room(encoder: isotrope.Encoder, monkeypatch: pytest.MonkeyPatch) -> None:
    vectors_folder().mkdir(parents=True)
    for age, name in enumerate(("new", "old")):
        file = vectors_folder() / f"{name}.sqlite"
        file.write_bytes(bytes(50_000))
        os.utime(file, (1e9 - age, 1e9 - age))
    monkeypatch.setattr(vectors, "LARGEST", 80_000)
    with remembered(encoder) as some:
        some.encode(SENTENCES)
    assert sorted(file.name for file in vectors_folder().iterdir()) == [f"{fingerprint(encoder)}.sqlite", "new.sqlite"]


@pytest.mark.parametrize("trouble", ["folder", "locked"])
def test_a_cache_that_can_not_be_used_is_one_line(
    encoder: isotrope.Encoder, trouble: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = vectors_folder() / f"{fingerprint(encoder)}.sqlite"
    file.parent.mkdir(parents=True)
    if trouble == "folder":
        file.mkdir()
    with closing(sqlite3.connect(":memory:" if trouble != "locked" else file)) as other:
        if trouble == "locked":
            other.execute("BEGIN EXCLUSIVE")
            monkeypatch.setattr(store, "PATIENCE", 0)
        message = r"^[^\n]*sqlite: the cache can't be used \([^\n]+\); make room for it, or set ISOTROPE_CACHE"
        with pytest.raises(IsotropeError, match=message), remembered(encoder) as some:
            some.encode(SENTENCES)


@pytest.mark.parametrize("damage", ["rubbish", "one bit"])
def test_damaged_vectors_are_made_again(
    encoder: isotrope.Encoder, encoded: list[str], damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    with remembered(encoder) as some:
        wanted = some.encode(SENTENCES)
        assert some.once("mr", lambda: {"accuracy": 1}) == {"accuracy": 1}
    file = vectors_folder() / f"{fingerprint(encoder)}.sqlite"
    content = bytearray(file.read_bytes())
    if damage == "one bit":
        content[content.index(wanted[2].tobytes()[:16])] ^= 1
    file.write_bytes(b"no database" * 1000 if damage == "rubbish" else content)
    encoded.clear()
    with remembered(encoder) as some:
        assert np.allclose(some.encode(SENTENCES), wanted, atol=1e-6)
        assert some.once("mr", lambda: {"accuracy": 1}) == {"accuracy": 1}
    assert len(encoded) == (4 if damage == "rubbish" else 1)
    (line,) = caplog.messages
    assert line.startswith(f"{file}: damaged, so ")
