"""Nothing is lost when a run goes wrong, and it says in words what went wrong."""

from __future__ import annotations

import errno
import math
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from isotrope.io.errors import IsotropeError
from isotrope.training import run_log

from .loops import Make, checkpoints, lines, same, saved_student, spoilt, student


@pytest.mark.parametrize(
    ("what", "spoil"),
    [
        ("loss became nan", lambda loss: loss * math.nan),
        ("loss became inf", lambda loss: loss * math.inf),
        ("gradient became nan", lambda loss: loss + (0 * loss).sqrt() * 0),  # 0 x inf; the loss itself is as before
    ],
)
@pytest.mark.parametrize("clip", [1.0, 0.0])
def test_what_is_no_number_stops_the_run_and_spoils_nothing(
    make: Make, what: str, spoil: Callable[[Tensor], Tensor], clip: float
) -> None:
    loop = make(save_steps=1, clip=clip)
    spoilt(loop, 3, spoil)
    with pytest.raises(
        IsotropeError, match=f"the {what} after step 2; the last good checkpoint is checkpoint-2; lower"
    ):
        loop.run()
    assert checkpoints(loop) == [1, 2]
    assert all(value.isfinite().all() for value in saved_student(loop.folder, 2).values())
    assert all(value.isfinite().all() for value in student(loop).values())


def test_a_run_that_diverges_is_told_as_such(make: Make) -> None:
    loop = make(learning_rate=1e30, warmup=0, clip=0)
    with pytest.raises(IsotropeError, match="became nan after step"):
        loop.run()


def test_too_little_memory_is_told_in_one_line_and_the_run_can_be_resumed(make: Make) -> None:
    wanted = make(folder="whole")
    wanted.run()
    loop = make()
    spoilt(loop, 3, lambda loss: loss + torch.empty(10**15).sum())  # which no machine has
    with pytest.raises(IsotropeError, match=r"^out of memory; use smaller batches or shorter texts, then resume"):
        loop.run()
    resumed = make()
    resumed.run(resume=True)
    assert same(student(resumed), student(wanted))


def full(*args: Any, **kwargs: Any) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_disk_that_fills_up_leaves_the_last_checkpoint(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = make(folder="whole")
    wanted.run()
    loop = make()
    save = torch.save
    monkeypatch.setattr(torch, "save", lambda what, path: (full if "checkpoint-4" in str(path) else save)(what, path))
    with pytest.raises(IsotropeError, match=r"checkpoint-4 could not be written .*No space left") as told:
        loop.run()
    assert "the last whole checkpoint is checkpoint-2; free some space, then resume the run" in str(told.value)
    assert checkpoints(loop) == [2]
    monkeypatch.undo()
    resumed = make()
    resumed.run(resume=True)
    assert same(student(resumed), student(wanted))


def test_a_log_that_can_not_be_written_is_told_in_one_line(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    loop = make()
    monkeypatch.setattr(run_log.json, "dumps", full)
    with pytest.raises(IsotropeError, match=r"log.jsonl could not be written .*the last whole checkpoint is none"):
        loop.run()


@pytest.fixture
def little_disk(tmp_path: Path) -> Iterator[Callable[[int], None]]:
    """A disk of its own under the run folder, of as many megabytes as it is told."""
    disk = tmp_path / "run"
    disk.mkdir()

    def mount(megabytes: int, how: str = "") -> bool:
        command = ["mount", "-t", "tmpfs", "-o", f"{how}size={megabytes}m", "tmpfs", str(disk)]
        return subprocess.run(command, capture_output=True).returncode == 0

    if not hasattr(os, "geteuid") or os.geteuid() != 0 or not mount(1):
        pytest.skip("needs to mount a small disk, which root may")
    yield lambda megabytes: mount(megabytes, "remount,") or pytest.fail("remount")
    subprocess.run(["umount", "-l", str(disk)], check=True)


def test_a_real_disk_that_is_full(make: Make, little_disk: Callable[[int], None]) -> None:
    wanted = make(folder="whole")
    wanted.run()
    size = sum(file.stat().st_size for file in (wanted.folder / "checkpoint-4").iterdir()) / 1e6
    weights = (wanted.folder / "checkpoint-4" / "model.safetensors").stat().st_size / 1e6
    for megabytes in (size + 0.5 * weights, size + weights + 0.5 * (size - weights)):  # safetensors; torch.save
        little_disk(int(megabytes / 1.048576))
        loop = make()
        with pytest.raises(IsotropeError, match=r"checkpoint-4 could not be written .*free some space"):
            loop.run(resume=True)
        assert checkpoints(loop) == [2]
    little_disk(int(3 * size))
    resumed = make()
    resumed.run(resume=True)
    assert same(student(resumed), student(wanted))
    assert checkpoints(resumed) == [2, 4]


def test_a_collapse_is_named_as_it_happens(
    make: Make, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ranks = iter([40.0, 39.0, 18.0, 17.0, 41.0])
    monkeypatch.setattr("isotrope.training.monitor.effective_rank", lambda vectors: next(ranks))
    make().run()
    said = [line for line in capsys.readouterr().err.splitlines() if "collapsing" in line]
    assert [line.partition(":")[0] for line in said] == ["step 2", "step 3"]
    assert "their effective rank fell from 40.0 to 18.0" in said[0]


def test_a_resumed_run_still_knows_how_it_began(
    make: Make, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ranks = iter([40.0, 30.0, 25.0, 22.0, 19.0])
    monkeypatch.setattr("isotrope.training.monitor.effective_rank", lambda vectors: next(ranks))
    loop = make()
    spoilt(loop, 3, lambda loss: loss * math.nan)
    with pytest.raises(IsotropeError):
        loop.run()
    resumed = make()
    resumed.run(resume=True)
    assert "step 4: the vectors are collapsing: their effective rank fell from 40.0 to 19.0" in capsys.readouterr().err
    assert [line["step"] for line in lines(resumed)] == [0, 1, 1, 2, 2, 3, 3, 4, 4]
