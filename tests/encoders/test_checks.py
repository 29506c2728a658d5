"""Folders that are incomplete or damaged are refused in one line, where transformers would make something up."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from sentence_transformers import SentenceTransformer

from isotrope.encoders import load, load_any
from isotrope.encoders.loading import BUNDLED
from isotrope.io.checksums import SUMS
from isotrope.io.errors import IsotropeError

Weights = dict[str, torch.Tensor]


def change_config(folder: Path, **changes: int) -> None:
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, **changes}))


def change_weights(folder: Path, change: Callable[[Weights], Weights]) -> None:
    file = folder / "model.safetensors"
    save_file(change(load_file(file)), file, metadata={"format": "pt"})


def with_nan(weights: Weights) -> Weights:
    weights["bert.encoder.layer.1.attention.self.key.bias"][3] = torch.nan
    return weights


def small_vocabulary(weights: Weights) -> Weights:
    weights = {name: weight for name, weight in weights.items() if not name.startswith("cls.")}
    words = "bert.embeddings.word_embeddings.weight"
    return {**weights, words: weights[words][:5000].clone()}


def without_a_weight(weights: Weights) -> Weights:
    del weights["bert.encoder.layer.1.attention.self.key.bias"]
    return weights


def other_words(folder: Path) -> None:
    change_weights(folder, small_vocabulary)
    change_config(folder, vocab_size=5000)


def pickled(folder: Path) -> None:
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()


DAMAGE: dict[str, Callable[[Path], object]] = {
    "its files lack 48 of the weights that its config.json asks for: encoder.layer.4.": lambda folder: change_config(
        folder, num_hidden_layers=7
    ),
    "its files lack 1 of the weights": lambda folder: change_weights(folder, without_a_weight),
    "its files have weights for more layers than its config.json": lambda folder: change_config(
        folder, num_hidden_layers=2
    ),
    "its tokenizer has no words: tokenizer.json or the vocabulary is missing": lambda folder: (
        folder / "tokenizer.json"
    ).unlink(),
    "NaN or infinity), in 0.model.encoder.layer.1.": lambda folder: change_weights(folder, with_nan),
    "its tokenizer numbers words up to 8,191, and its word embeddings have 5,000 rows": other_words,
    "its weights have other sizes than its config.json says": lambda folder: change_config(folder, hidden_size=128),
    "Error while deserializing header": lambda folder: (folder / "model.safetensors").write_bytes(b"no weights"),
    "pytorch_model.bin is a pickle, which can run any code": lambda folder: pickled(folder),
    "no file named model.safetensors": lambda folder: (folder / "model.safetensors").unlink(),
}


@pytest.mark.parametrize("message", DAMAGE)
def test_damaged_folders(tmp_path: Path, message: str) -> None:
    folder = tmp_path / "model"
    shutil.copytree(BUNDLED, folder)
    DAMAGE[message](folder)
    for loader in (load, load_any):
        with pytest.raises(IsotropeError, match=r"^[^\n]+$") as error:
            loader(folder)
        assert message in str(error.value)


def test_a_pickle_is_converted_as_the_message_says(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(BUNDLED, folder)
    pickled(folder)
    with pytest.raises(IsotropeError) as error:
        load(folder)
    _, _, command = str(error.value).partition("convert it once: ")
    exec(command, {"SentenceTransformer": SentenceTransformer})
    assert np.allclose(load(f"{folder}-safe").encode("A dog."), load().encode("A dog."), atol=1e-6)


def test_a_saved_encoder_and_its_dense_layer(tmp_path: Path) -> None:
    """A folder of sentence-transformers': the checks reach the transformer and the modules behind it."""
    folder = load(pooling="cls-mlp").save(tmp_path / "encoder")
    assert load(folder).dim == 256
    (folder / SUMS).unlink()  # as if somebody else had saved it
    (dense,) = folder.glob("*_Dense/model.safetensors")
    save_file({n: torch.full_like(w, torch.nan) for n, w in load_file(dense).items()}, dense, metadata={"format": "pt"})
    with pytest.raises(IsotropeError, match=r"NaN or infinity\), in 2.linear.bias, 2.linear.weight$"):
        load(folder)


def test_one_flipped_bit_in_a_saved_encoder_is_found(tmp_path: Path) -> None:
    """The vectors would be numbers like any others."""
    folder = load().save(tmp_path / "encoder")
    weights = folder / "model.safetensors"
    data = bytearray(weights.read_bytes())
    data[len(data) // 2] ^= 1
    weights.write_bytes(data)
    for loader in (load, load_any):
        with pytest.raises(IsotropeError, match=r"^[^\n]+$") as error:
            loader(folder)
        assert str(error.value) == (
            f"'{folder}' can't be used as a model: model.safetensors is not the file that was saved; "
            "get the folder again, or delete its SHA256SUMS if you changed it yourself"
        )
    assert np.isfinite(
        SentenceTransformer(str(folder), device="cpu").encode("A dog.")
    ).all()  # for whom it is one more file
    (folder / SUMS).unlink()
    assert load(folder).dim == 256


def test_a_card_may_be_edited_and_files_be_added(tmp_path: Path) -> None:
    folder = load().save(tmp_path / "encoder")
    (folder / "README.md").write_text("# My encoder")
    (folder / "onnx").mkdir()
    (folder / "onnx" / "model.onnx").write_bytes(b"for others")
    assert load(folder).dim == 256
