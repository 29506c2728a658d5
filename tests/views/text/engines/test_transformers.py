from __future__ import annotations

import importlib.util
import json
import random
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoTokenizer, M2M100ForConditionalGeneration, MarianMTModel

from isotrope.io.errors import IsotropeError
from isotrope.views.text import make_text_view
from isotrope.views.text.engines.transformers import Transformers, _Chance
from isotrope.views.text.language import is_wrong_language

from .folders import MAKERS, fsmt_folder, m2m_model, marian_folder, marian_model, nllb_folder, sentencepiece_model


def needs(package: str) -> None:
    pytest.importorskip(package, reason=f"pip install {package}")


@pytest.fixture(scope="module")
def marian(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A model for each direction, under one name."""
    root = tmp_path_factory.mktemp("marian")
    for seed, pair in enumerate(("en-pt", "pt-en")):
        marian_folder(root / pair, seed)
    return str(root / "{src}-{tgt}")


@pytest.fixture(scope="module")
def nllb(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(nllb_folder(tmp_path_factory.mktemp("nllb")))


def one_by_one(model: Any, tokenizer: Any, sentences: list[str], **options: Any) -> list[str]:
    """The naive twin: no batches, no order, no padding."""
    found = []
    for sentence in sentences:
        made = model.eval().generate(**tokenizer(sentence, return_tensors="pt"), do_sample=False, **options)
        found.append(tokenizer.decode(made[0], skip_special_tokens=True).strip())
    return found


@pytest.mark.parametrize("beam", [1, 4, 100])
def test_marian_translates_as_one_sentence_at_a_time(marian: str, sentences: list[str], beam: int) -> None:
    engine = Transformers(marian, beam=beam, max_length=24)
    assert engine.lacks("en", "pt") == engine.lacks("pt", "en") == ""
    for source, target in (("en", "pt"), ("pt", "en")):
        folder = marian.format(src=source, tgt=target)
        expected = one_by_one(
            MarianMTModel.from_pretrained(folder),
            AutoTokenizer.from_pretrained(folder),
            sentences,
            num_beams=beam,
            max_length=24,
        )
        assert engine.translate(sentences, source, target) == expected
        assert len(set(expected)) > 1


def test_nllb_is_told_both_languages(nllb: str, sentences: list[str]) -> None:
    engine = Transformers(nllb, beam=2, max_length=32)
    model = M2M100ForConditionalGeneration.from_pretrained(nllb)
    tokenizer = AutoTokenizer.from_pretrained(nllb)
    found = {}
    for source, target in (("en", "pt"), ("en", "es"), ("pt", "en")):
        codes = {"en": "eng_Latn", "pt": "por_Latn", "es": "spa_Latn"}
        tokenizer.src_lang = codes[source]
        assert tokenizer(sentences[0])["input_ids"][0] == tokenizer.convert_tokens_to_ids(codes[source])
        first = tokenizer.convert_tokens_to_ids(codes[target])
        expected = one_by_one(model, tokenizer, sentences, num_beams=2, max_length=32, forced_bos_token_id=first)
        found[source, target] = engine.translate(sentences, source, target)
        assert found[source, target] == expected
    assert len({tuple(texts) for texts in found.values()}) == 3  # the codes matter
    assert engine.translate(sentences, "eng_Latn", "spa_Latn") == found["en", "es"]
    assert len({id(direction.model) for direction in engine._directions.values()}) == 1  # loaded once


def test_unknown_languages_are_named(nllb: str) -> None:
    assert "does not know the language 'de'; it knows" in Transformers(nllb).lacks("en", "de")


def test_sentences_that_are_too_long_have_no_translation(marian: str) -> None:
    long = "very " * 80 + "long"
    found = Transformers(marian, beam=1, max_length=500).translate(["A dog.", long], "en", "pt")  # of 64 positions
    assert found[0]
    assert found[1] == ""


def test_sampling_depends_on_seed_and_text_alone(marian: str, sentences: list[str]) -> None:
    def sample(texts: list[str], seed: int) -> dict[str, str]:
        engine = Transformers(marian, sampling=True, temperature=2.0, seed=seed, max_length=16)
        return dict(zip(texts, engine.translate(texts, "en", "pt"), strict=True))

    first = sample(sentences, 1)
    torch.manual_seed(99)
    shuffled = random.Random(0).sample(sentences, len(sentences))
    assert sample(shuffled, 1) == first
    assert sample(sentences[:1], 1) == {sentences[0]: first[sentences[0]]}
    assert sample(sentences, 2) != first
    assert first != dict(zip(sentences, Transformers(marian, beam=1).translate(sentences, "en", "pt"), strict=True))


@pytest.mark.parametrize("temperature", [0.5, 1.0, 3.0])
def test_the_noise_samples_from_the_softmax(temperature: float) -> None:
    draws, logits = 20_000, torch.tensor([2.0, 1.0, 0.0, -torch.inf])
    chance = _Chance([str(i) for i in range(draws)], seed=1, temperature=temperature)
    drawn = chance(torch.empty(0), logits.repeat(draws, 1)).argmax(-1)
    share = drawn.bincount(minlength=4) / draws
    assert torch.allclose(share, (logits / temperature).softmax(-1), atol=0.015)
    assert share[3] == 0  # what is forbidden stays so


def test_parameters_name_the_model_by_what_it_is(marian: str, tmp_path: Path) -> None:
    here = Transformers(marian, beam=2).parameters("en", "pt")
    moved = tmp_path / "elsewhere" / "en-pt"
    moved.parent.mkdir()
    moved.symlink_to(Path(marian.format(src="en", tgt="pt")))
    assert Transformers(str(moved), beam=2).parameters("en", "pt") == here
    assert json.loads(json.dumps(here)) == here
    assert str(tmp_path.parent) not in json.dumps(here)
    assert Transformers(marian, beam=3).parameters("en", "pt") != here
    assert Transformers(marian, beam=2).parameters("pt", "en")["sha256"] != here["sha256"]
    sampled = Transformers(marian, sampling=True, temperature=0.5).parameters("en", "pt")
    assert sampled["temperature"] == 0.5


def test_it_is_an_engine_of_back_translation(nllb: str, sentences: list[str]) -> None:
    view = make_text_view("back-translation", pivot="pt", model=nllb)  # a model is given, so `auto` is transformers
    engine = Transformers(nllb)
    back = engine.translate(engine.translate(sentences, "en", "pt"), "pt", "en")
    wrong = [is_wrong_language(text, sentence, "en", "pt") for text, sentence in zip(back, sentences, strict=True)]
    assert view(sentences) == ["" if flawed else text for text, flawed in zip(back, wrong, strict=True)]
    assert any(view(sentences))
    assert view.parameters["engine"] == "transformers"
    assert view.parameters["seed"] is None


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"model": "nowhere/opus-mt-{src}-{tgt}"}, "the Hugging Face Hub gave no such model"),
        ({"engine": "transformers", "pivot": "fi"}, "'Helsinki-NLP/opus-mt-en-fi'"),
        ({"beam": 3, "engine": "bergamot"}, "engine 'bergamot' has no beam; choose the engine transformers"),
        ({"beam": 3, "sampling": True}, "can't be used together"),
        ({"temperature": 0.5}, "a temperature is for sampling"),
        ({"sampling": True, "temperature": 0.0}, "temperature: Input should be greater than 0"),
    ],
)
def test_what_can_not_be_is_said_at_once(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(IsotropeError, match=r"^[^\n]+$") as error:
        make_text_view("back-translation", **fields)
    assert message in str(error.value)


def test_a_folder_that_is_no_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(IsotropeError, match="not a folder of a translation model"):
        make_text_view("back-translation", model=str(tmp_path))


def test_a_model_without_weights_is_named(marian: str, tmp_path: Path, sentences: list[str]) -> None:
    folder = tmp_path / "model"
    shutil.copytree(marian.format(src="en", tgt="pt"), folder)
    (folder / "model.safetensors").unlink()
    with pytest.raises(IsotropeError, match="model: the translation model can't be loaded"):
        Transformers(str(folder)).translate(sentences, "en", "pt")


@pytest.mark.parametrize(("kind", "package"), [("marian", "sentencepiece"), ("fsmt", "sacremoses")])
def test_a_missing_package_of_a_tokenizer_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, package: str
) -> None:
    MAKERS[kind](tmp_path)
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == package else find(name))

    def refuse(name: str, **options: Any) -> None:
        raise ImportError(f"requires the {package} library")

    monkeypatch.setattr("transformers.AutoTokenizer.from_pretrained", refuse)
    with pytest.raises(IsotropeError, match=f"its tokenizer needs {package}: pip install {package}$"):
        make_text_view("back-translation", model=str(tmp_path), pivot="de")


def test_marian_with_its_own_tokenizer(tmp_path: Path, sentences: list[str]) -> None:
    needs("sentencepiece")
    from transformers import MarianTokenizer

    spm = sentencepiece_model(tmp_path, 150)
    pieces = {"</s>": 0, "<unk>": 1, ">>por<<": 2, ">>spa<<": 3}
    pieces |= {spm.id_to_piece(i): i + 1 for i in range(3, spm.get_piece_size())}
    pieces["<pad>"] = len(pieces)
    (tmp_path / "vocab.json").write_text(json.dumps(pieces))
    for name in ("source.spm", "target.spm"):
        (tmp_path / name).write_bytes((tmp_path / "m.model").read_bytes())
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "MarianTokenizer"}))
    marian_model(tmp_path, len(pieces), 5, pad=pieces["<pad>"], eos=0)
    engine = Transformers(str(tmp_path), beam=2, max_length=32)
    tokenizer, model = MarianTokenizer.from_pretrained(tmp_path), MarianMTModel.from_pretrained(tmp_path)
    expected = one_by_one(model, tokenizer, [f">>por<< {text}" for text in sentences], num_beams=2, max_length=32)
    assert tokenizer(f">>por<< {sentences[0]}")["input_ids"][0] == 2
    assert engine.translate(sentences, "en", "pt") == expected
    assert engine.translate(sentences, "en", "es") != expected
    assert "does not translate to 'de'" in engine.lacks("en", "de")


def test_m2m100_with_its_own_tokenizer(tmp_path: Path, sentences: list[str]) -> None:
    needs("sentencepiece")
    from transformers import M2M100Tokenizer

    spm = sentencepiece_model(tmp_path, 150)
    pieces = {"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3}
    pieces |= {spm.id_to_piece(i): i + 1 for i in range(3, spm.get_piece_size())}
    (tmp_path / "vocab.json").write_text(json.dumps(pieces))
    (tmp_path / "sentencepiece.bpe.model").write_bytes((tmp_path / "m.model").read_bytes())
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "M2M100Tokenizer"}))
    tokenizer = M2M100Tokenizer.from_pretrained(tmp_path, src_lang="en")
    m2m_model(tmp_path, max(tokenizer.lang_code_to_id.values()) + 1)
    model = M2M100ForConditionalGeneration.from_pretrained(tmp_path)
    first = tokenizer.get_lang_id("es")
    expected = one_by_one(model, tokenizer, sentences, num_beams=2, max_length=32, forced_bos_token_id=first)
    expected = [text.removeprefix("__es__").strip() for text in expected]
    engine = Transformers(str(tmp_path), beam=2, max_length=32)
    assert engine.translate(sentences, "en", "es") == expected
    assert engine.translate(sentences, "en", "pt") != expected
    assert "does not know the language 'xx'; it knows af am" in engine.lacks("en", "xx")


def test_fsmt_with_its_own_tokenizer(tmp_path: Path, sentences: list[str]) -> None:
    needs("sacremoses")
    tokenizer, model = fsmt_folder(tmp_path)
    expected = one_by_one(model, tokenizer, sentences, num_beams=2, max_length=64)
    assert Transformers(str(tmp_path), beam=2, max_length=64).translate(sentences, "en", "de") == expected
