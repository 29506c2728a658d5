"""Pre-training: it learns, can be interrupted, and never sees what is held out."""

from __future__ import annotations

import math
import shutil
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from transformers import BertForMaskedLM

import isotrope
from isotrope.io.errors import IsotropeError
from isotrope.text import bundled_sentences
from isotrope.training.checkpoints import last_checkpoint
from isotrope.training.masked_lm import MaskedBatches, MaskedLM, masked_loss
from isotrope.training.pretrain import Pretraining, held_out_figures, pretrain
from isotrope.training.pretrain_text import HELD_OUT, tokenized

pytestmark = pytest.mark.xdist_group("killed")

WORDS = sorted({word.lower() for text in bundled_sentences() for word in text.split() if word.isalpha()})[:64]
SENTENCES = [f"{k} {' '.join(WORDS[8 * (k % 8) : 8 * (k % 8) + 8])}" for k in range(1600)]  # quick to learn
TINY: dict[str, Any] = {
    "vocabulary": 400,
    "layers": 2,
    "dim": 32,
    "heads": 2,
    "positions": 48,
    "batch_tokens": 512,
    "steps": 20,
    "warmup": 2,
    "learning_rate": 5e-3,
    "save_steps": 5,
}


SIZE = {key: TINY[key] for key in ("positions", "batch_tokens")}


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("text") / "text.txt"
    file.write_text("\n".join(SENTENCES))
    return str(file)


@pytest.fixture(scope="module")
def config(text: str) -> Pretraining:
    return Pretraining(files={text: 1.0}, **TINY)


@pytest.fixture(scope="module")
def whole(
    config: Pretraining, killed: Callable[..., bool], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, dict[str, float]]:
    """A run that was left alone, with as many threads as those that are killed."""
    output = tmp_path_factory.mktemp("whole") / "run"
    return output, pretrain(config, output)


def test_it_learns_and_leaves_what_others_load(
    whole: tuple[Path, dict[str, float]], config: Pretraining, tmp_path: Path
) -> None:
    run, figures = whole
    untrained = pretrain(replace(config, steps=1, learning_rate=1e-9), tmp_path / "untrained")
    assert figures["loss"] < untrained["loss"] - 0.3
    assert figures["tokens"] == 20 * 512
    encoder = isotrope.load(run / "encoder")
    assert encoder.encode(SENTENCES[:3]).shape == (3, 32)
    model = BertForMaskedLM.from_pretrained(run / "encoder")
    assert (model.config.num_hidden_layers, model.config.hidden_dropout_prob) == (2, 0.1)
    again = held_out_figures(run / "encoder", config.files, tmp_path)  # in half precision, and with the default sizes
    assert again[0] == pytest.approx(figures["loss"], abs=0.1)


@pytest.mark.parametrize("moment", ["between two checkpoints", "while one is written", "before the first"])
def test_killed_and_resumed_it_ends_the_same(
    moment: str,
    whole: tuple[Path, dict[str, float]],
    config: Pretraining,
    killed: Callable[..., bool],
    tmp_path: Path,
) -> None:
    run = tmp_path / "run"
    when = {
        "between two checkpoints": lambda: last_checkpoint(run) is not None,
        "while one is written": lambda: any(run.glob(".checkpoint-10.*.partial")),
        "before the first": lambda: (run / "text").is_dir(),
    }[moment]
    while not killed(when, pretrain, config, run) or (run / "encoder").exists():
        shutil.rmtree(run)
    assert pretrain(config, run, resume=True) == whole[1]
    found, wanted = (load_file(folder / "checkpoint-20" / "model.safetensors") for folder in (run, whole[0]))
    assert found.keys() == wanted.keys()
    assert all(torch.equal(value, wanted[key]) for key, value in found.items())
    found_bytes, wanted_bytes = (
        {file.name: file.read_bytes() for file in (folder / "encoder").iterdir()} for folder in (run, whole[0])
    )
    assert "tokenizer_config.json" in wanted_bytes
    assert found_bytes == wanted_bytes
    assert list(run.glob("*.partial")) == []


def test_a_loss_that_is_no_number_stops_it(
    config: Pretraining, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forward, calls = MaskedLM.forward, iter(range(1, 100))

    def wrong(self: MaskedLM, **item: Any) -> Any:
        found = forward(self, **item)
        return found | {"loss": found["loss"] * (math.nan if next(calls) == 7 else 1)}

    monkeypatch.setattr(MaskedLM, "forward", wrong)
    words = "loss became nan after step 6; the last good checkpoint is checkpoint-5; lower the learning rate"
    with pytest.raises(IsotropeError, match=words):
        pretrain(config, tmp_path / "run")
    assert not (tmp_path / "run" / "encoder").exists()


def test_bfloat16_learns_about_the_same(
    whole: tuple[Path, dict[str, float]], config: Pretraining, tmp_path: Path
) -> None:
    figures = pretrain(replace(config, precision="bfloat16"), tmp_path / "run")
    assert figures["loss"] == pytest.approx(whole[1]["loss"], rel=0.02)
    assert figures["loss"] != whole[1]["loss"]


def test_other_settings_are_not_resumed(whole: tuple[Path, dict[str, float]], config: Pretraining) -> None:
    with pytest.raises(IsotropeError, match="settings differ from the original run: dim 32 -> 64; seed 1 -> 2"):
        pretrain(replace(config, dim=64, seed=2), whole[0], resume=True)
    with pytest.raises(IsotropeError, match="exists already; resume that run"):
        pretrain(config, whole[0])


def test_half_a_tokenised_text_is_not_taken_for_whole(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a kill leaves it: nothing that is there is half, so what is missing is made again."""
    config, run = Pretraining(files={text: 1.0}, **TINY | {"steps": 1}), tmp_path / "run"
    save, saved = np.save, []

    def stop_half_way(path: Path, array: Any) -> None:
        save(path, array)
        saved.append(path)
        if len(saved) == 2:
            path.write_bytes(path.read_bytes()[:-3])
            raise KeyboardInterrupt

    monkeypatch.setattr(np, "save", stop_half_way)
    with pytest.raises(KeyboardInterrupt):
        pretrain(config, run)
    monkeypatch.undo()
    assert {path.name for path in run.iterdir()} == {"settings.json", "tokenizer"}
    assert pretrain(config, run, resume=True)["loss"] > 0


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"dim": 30, "heads": 4}, "dim 30 is not a multiple of heads 4"),
        ({"batch_tokens": 40}, "batch_tokens 40 is less than positions 48"),
        ({"files": {}}, "at least one file"),
        ({"learning_rate": math.nan}, "learning_rate is nan; it should be a number from 0 upwards"),
        ({"learning_rate": -1.0}, "learning_rate is -1.0; it should be"),
        ({"weight_decay": math.inf}, "weight_decay is inf; it should be"),
        (
            {"learning_rate": 1e6},
            "the (loss|gradient) became nan after step .; there is no checkpoint yet; lower",
        ),
        ({"weight_decay": 1e9}, "the (loss|gradient) became nan after step .; there is no checkpoint yet; lower"),
    ],
)
def test_what_can_not_be_trained_is_refused(text: str, tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    with pytest.raises(IsotropeError, match=words):
        pretrain(Pretraining(**{"files": {text: 1.0}} | TINY | changes), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_damaged_text_is_made_again_and_a_damaged_vocabulary_is_one_line(config: Pretraining, tmp_path: Path) -> None:
    run, short = tmp_path / "run", replace(config, steps=2)
    wanted = pretrain(short, run)
    for name, data in (("tokens", b""), ("held_out", b"cut short"), ("lengths", None)):
        file = run / "text" / f"{name}.npy"
        flipped = bytearray(file.read_bytes())
        flipped[-3] ^= 1
        file.write_bytes(bytes(flipped) if data is None else data)
    assert pretrain(short, run, resume=True) == wanted
    (run / "tokenizer" / "tokenizer.json").write_text("{}")
    with pytest.raises(IsotropeError, match=r"tokenizer.json is not the file that was saved; the run can't be resumed"):
        pretrain(short, run, resume=True)


def test_weights_that_the_last_step_spoilt_are_not_saved(config: Pretraining, tmp_path: Path) -> None:
    """The loss before it was still a number, and so is the one after: half precision ends at 65,504."""
    spoilt = replace(config, steps=1, warmup=0, weight_decay=1e9)
    with pytest.raises(IsotropeError, match="the weights have become too large to be saved"):
        pretrain(spoilt, tmp_path / "run")
    assert not (tmp_path / "run" / "encoder").exists()


def test_held_out_sentences_are_never_trained_on(whole: tuple[Path, dict[str, float]], config: Pretraining) -> None:
    tokenizer = isotrope.load(whole[0] / "encoder").tokenizer
    trained, held_out = tokenized(config.files, tokenizer, whole[0], **SIZE)
    apart = {k for k, sentence in enumerate(SENTENCES) if zlib.crc32(sentence.encode()) % HELD_OUT == 0}
    assert 0 < len(apart) < 20
    batches = MaskedBatches(trained, tokenizer, batches=50, batch_tokens=512, seed=1)
    assert set(batches.order.tolist()) == set(range(len(SENTENCES))) - apart
    assert set(held_out.order.tolist()) == apart


def test_a_single_held_out_sentence_is_enough(whole: tuple[Path, dict[str, float]], tmp_path: Path) -> None:
    one = next(sentence for sentence in SENTENCES if zlib.crc32(sentence.encode()) % HELD_OUT == 0)
    others = [sentence for sentence in SENTENCES[:50] if zlib.crc32(sentence.encode()) % HELD_OUT]
    file = tmp_path / "few.txt"
    file.write_text("\n".join([one, *others]))
    tokenizer = isotrope.load(whole[0] / "encoder").tokenizer
    _, held_out = tokenized({str(file): 1.0}, tokenizer, tmp_path, **SIZE)
    model = MaskedLM.from_pretrained(whole[0] / "encoder", dtype=torch.float32)
    assert math.isfinite(masked_loss(model, held_out)[0])
