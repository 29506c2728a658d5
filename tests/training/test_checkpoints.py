"""A checkpoint is whole or it is not used."""

from __future__ import annotations

import errno
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors import SafetensorError
from torch import nn

from isotrope.io.errors import IsotropeError
from isotrope.training import checkpoints
from isotrope.training.checkpoints import (
    check_origin,
    last_checkpoint,
    load_part,
    load_state,
    load_weights,
    save_checkpoint,
    writing,
)


def save(run: Path, step: int, best: int | None = None) -> Path:
    torch.manual_seed(step)
    parts = {"optimizer": {"state": torch.ones(3)}, "rng-0": {"torch": torch.get_rng_state()}}
    save_checkpoint(run, {"step": step, "evaluations": [], "best": best}, nn.Linear(3, 2), parts, world=1)
    return run / f"checkpoint-{step}"


def names(run: Path) -> list[str]:
    return sorted(path.name for path in run.iterdir())


def test_what_was_saved_is_loaded(tmp_path: Path) -> None:
    folder = save(tmp_path, 7)
    model = nn.Linear(3, 2)
    load_weights(model, folder)
    torch.manual_seed(7)
    assert torch.equal(model.weight, nn.Linear(3, 2).weight)
    assert torch.equal(load_part(folder, "optimizer")["state"], torch.ones(3))
    assert load_state(folder) == {"step": 7, "evaluations": [], "best": None}


def test_the_manifest_says_what_is_there_and_what_wrote_it(tmp_path: Path) -> None:
    folder = save(tmp_path, 7)
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["files"].keys() == set(names(folder)) - {"manifest.json"}
    assert manifest["files"]["state.json"]["bytes"] == (folder / "state.json").stat().st_size
    assert (manifest["step"], manifest["world_size"], manifest["threads"]) == (7, 1, torch.get_num_threads())
    assert {"torch", "isotrope", "transformers", "accelerate", "python"} <= manifest["versions"].keys()


def test_the_newest_by_number_not_by_name_or_time(tmp_path: Path) -> None:
    newest = save(tmp_path, 100)
    (save(tmp_path, 9)).rename(tmp_path / "checkpoint-9.old")
    (tmp_path / "checkpoint-x").mkdir()
    save(tmp_path, 20)
    assert last_checkpoint(tmp_path) == newest


def test_the_best_and_the_last_two_are_kept(tmp_path: Path) -> None:
    for step in (8, 9, 10, 11):
        save(tmp_path, step, best=8)
    assert names(tmp_path) == ["checkpoint-10", "checkpoint-11", "checkpoint-8"]


DAMAGES: dict[str, Callable[[Path], Any]] = {
    "no optimizer.pt": lambda folder: (folder / "optimizer.pt").unlink(),
    "no manifest.json": lambda folder: (folder / "manifest.json").unlink(),
    "manifest.json: unreadable": lambda folder: (folder / "manifest.json").write_text('{"step": 1, "fi'),
    "manifest.json: incomplete": lambda folder: (folder / "manifest.json").write_text('{"files": {}}'),
    "state.json: 5 bytes of": lambda folder: (folder / "state.json").write_text('{"ste'),
    "model.safetensors: wrong checksum": lambda folder: flip(folder / "model.safetensors"),
}


def flip(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(data)


@pytest.mark.parametrize("words", DAMAGES)
def test_a_damaged_one_is_passed_over_for_the_one_before(words: str, tmp_path: Path) -> None:
    whole, damaged = save(tmp_path, 20), save(tmp_path, 30)
    DAMAGES[words](damaged)
    said: list[str] = []
    assert last_checkpoint(tmp_path, said.append) == whole
    assert len(said) == 1
    assert f"checkpoint-30 is damaged ({words}" in said[0]
    assert said[0].endswith("; trying checkpoint-20")
    DAMAGES[words](whole)
    assert last_checkpoint(tmp_path, said.append) is None
    assert said[-1].endswith("starting from the beginning")
    assert last_checkpoint(tmp_path / "none there") is None
    assert last_checkpoint(tmp_path) is None
    assert last_checkpoint(save(tmp_path, 30).parent) == damaged  # written again where the damaged one was


def test_another_number_of_processes_is_refused_and_other_software_is_told(tmp_path: Path) -> None:
    folder = save(tmp_path, 3)
    assert check_origin(folder, 1) is None
    with pytest.raises(
        IsotropeError,
        match=r"checkpoint-3 was written by 1 process\(es\), and this run has 2; resume it with 1, or with o",
    ):
        check_origin(folder, 2)
    assert "processes 1 -> 2" in (check_origin(folder, 2, other_processes=True) or "")
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["versions"]["torch"], manifest["threads"] = "1.0", 64
    (folder / "manifest.json").write_text(json.dumps(manifest))
    told = check_origin(folder, 1)
    assert told is not None
    assert f"threads 64 -> {torch.get_num_threads()}, torch 1.0 -> " in told
    assert "\n" not in told


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "No space left on device"),
        (RuntimeError("[enforce fail]\n unexpected pos 576 vs 534"), "unexpected pos"),  # so says torch.save
        (SafetensorError("Error while serializing: I/O error: No space left on device"), "No space left on device"),
    ],
)
def test_what_can_not_be_written_is_told_in_one_line_and_removed(
    tmp_path: Path, error: Exception, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(tmp_path, 3)

    def fail(*args: Any) -> None:
        raise error

    monkeypatch.setattr(torch, "save", fail)
    with pytest.raises(IsotropeError, match=reason) as told:
        save(tmp_path, 6)
    line = str(told.value)
    assert "\n" not in line
    assert "checkpoint-6 could not be written" in line
    assert "the last whole checkpoint is checkpoint-3; free some space, then resume the run" in line
    assert names(tmp_path) == ["checkpoint-3"]


def test_there_may_be_no_checkpoint_yet(tmp_path: Path) -> None:
    with pytest.raises(IsotropeError, match="is none; free some space, then start it again"), writing(tmp_path / "log"):
        (tmp_path / "none" / "there").write_text("")


def test_other_errors_pass_and_take_the_half_with_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*args: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(checkpoints, "_manifest", stop)
    with pytest.raises(KeyboardInterrupt):
        save(tmp_path, 6)
    assert names(tmp_path) == []
