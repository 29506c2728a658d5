from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

import isotrope
from isotrope.cli.pretrain import _weighted, pretrain
from isotrope.text import bundled_sentences
from isotrope.training.pretrain import Pretraining

Run = Callable[..., Any]


def test_the_options_are_the_librarys_with_its_defaults() -> None:
    options = {name: option.default for name, option in inspect.signature(pretrain).parameters.items()}
    fields = asdict(Pretraining())
    assert options.keys() - {"output", "resume", "other_processes", "device"} == fields.keys()
    assert {name: options[name] for name in fields if name != "files"} == {
        name: value for name, value in fields.items() if name != "files"
    }


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a.txt", ("a.txt", 1.0)),
        ("a.txt:2", ("a.txt", 2.0)),
        ("a.txt.gz:0.5", ("a.txt.gz", 0.5)),
        ("C:\\a.txt", ("C:\\a.txt", 1.0)),
        ("C:\\a.txt:3", ("C:\\a.txt", 3.0)),
        ("there:2", ("there:2", 1.0)),  # a file of that name
    ],
)
def test_a_file_may_carry_its_weight(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, wanted: tuple[str, float]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("there:2").touch()
    assert _weighted(text) == wanted


def test_a_tiny_run_ends_with_an_encoder(run: Run) -> None:
    Path("text.txt").write_text("\n".join(bundled_sentences()))
    size = ("--layers", "1", "--dim", "16", "--heads", "2", "--vocabulary", "300", "--positions", "32")
    length = ("--steps", "3", "--batch-tokens", "256", "--warmup", "1", "--save-steps", "2")
    done = run("pretrain", "text.txt:2", "--output", "run", *size, *length)
    assert done.code == 0
    assert re.fullmatch(r"run/encoder: held-out loss \d\.\d{3}, accuracy \d+\.\d% after 768 tokens\n", done.out)
    assert isotrope.load("run/encoder").encode("A dog.").shape == (16,)
    sizes = {"layers": 1, "dim": 16, "heads": 2, "vocabulary": 300, "positions": 32}
    settings = isotrope.Pretraining(
        {"text.txt": 2.0},
        **sizes,
        steps=3,
        batch_tokens=256,
        warmup=1,
        save_steps=2,  # type: ignore[arg-type]
    )
    found = isotrope.pretrain(settings, Path("function"))
    assert f"held-out loss {found['loss']:.3f}, " in done.out
    for file in ("model.safetensors", "tokenizer.json", "config.json"):
        assert Path("function/encoder", file).read_bytes() == Path("run/encoder", file).read_bytes()
    again = run("pretrain", "text.txt:2", "--output", "run", *size, *length)
    assert (again.code, again.err) == (
        2,
        "Error: run: exists already; resume that run (--resume), or choose another folder\n",
    )
    assert run("pretrain", "text.txt:2", "--output", "run", *size, *length, "--resume").out == done.out
