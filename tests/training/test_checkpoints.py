from __future__ import annotations

import errno
from pathlib import Path

import pytest
import torch
from safetensors import SafetensorError

from isotrope.io.errors import IsotropeError
from isotrope.training.checkpoints import check_run, last_checkpoint, whole_checkpoint, writing

STATE = '{"global_step": 1}'


def checkpoint(run: Path, name: str, state: str | None = STATE) -> Path:
    folder = run / name
    folder.mkdir(parents=True)
    (folder / "model.safetensors").write_text("weights")
    if state is not None:
        (folder / "trainer_state.json").write_text(state)
    return folder


def test_the_newest_by_number_not_by_name_or_time(tmp_path: Path) -> None:
    newest = checkpoint(tmp_path, "checkpoint-100")
    checkpoint(tmp_path, "checkpoint-20")
    checkpoint(tmp_path, "checkpoint-9")
    assert last_checkpoint(tmp_path) == newest


@pytest.mark.parametrize("state", [None, "", STATE[:-1]])
def test_one_that_is_not_whole_is_passed_over(tmp_path: Path, state: str | None) -> None:
    checkpoint(tmp_path, "checkpoint-30", state)
    assert last_checkpoint(tmp_path) is None
    whole = checkpoint(tmp_path, "checkpoint-20")
    assert last_checkpoint(tmp_path) == whole


@pytest.mark.parametrize("name", ["checkpoint-", "checkpoint-x", "checkpoint-7.old", "my-checkpoint-7", "stage-1"])
def test_other_folders_are_none(tmp_path: Path, name: str) -> None:
    checkpoint(tmp_path, name)
    assert last_checkpoint(tmp_path) is None


def test_a_run_begins_where_nothing_is_and_goes_on_where_one_is(tmp_path: Path) -> None:
    run = tmp_path / "run"
    check_run(run, resume=False)
    with pytest.raises(IsotropeError, match=r"run: nothing to resume \(no run.json in it\)"):
        check_run(run, resume=True)
    run.mkdir()
    check_run(run, resume=False)
    (run / "run.json").write_text("{}")
    check_run(run, resume=True)
    with pytest.raises(IsotropeError, match="run: exists already; give --resume to go on with it, or another folder"):
        check_run(run, resume=False)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "No space left on device"),
        (RuntimeError("[enforce fail]\n unexpected pos 576 vs 534"), "unexpected pos"),  # so says torch.save
        (SafetensorError("Error while serializing: I/O error: No space left on device"), "No space left on device"),
    ],
)
def test_what_can_not_be_written_is_told_in_one_line_and_removed(tmp_path: Path, error: Exception, reason: str) -> None:
    kept = checkpoint(tmp_path, "checkpoint-3")
    checkpoint(tmp_path, "checkpoint-6", None)
    with pytest.raises(IsotropeError, match=reason) as told, whole_checkpoint(tmp_path, 6):
        raise error
    line = str(told.value)
    assert "\n" not in line
    assert "checkpoint-6 could not be written" in line
    assert "the last whole checkpoint is checkpoint-3; make room, then go on with --resume" in line
    assert [path.name for path in tmp_path.iterdir()] == [kept.name]


def test_there_may_be_no_checkpoint_yet(tmp_path: Path) -> None:
    with pytest.raises(IsotropeError, match="the last whole checkpoint is none"), writing(tmp_path / "log.jsonl"):
        (tmp_path / "none" / "there").write_text("")


def test_other_errors_pass_and_take_the_half_with_them(tmp_path: Path) -> None:
    checkpoint(tmp_path, "checkpoint-6", None)
    with pytest.raises(KeyboardInterrupt), whole_checkpoint(tmp_path, 6):
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []
    with whole_checkpoint(tmp_path, 6):
        checkpoint(tmp_path, "checkpoint-6")
        torch.save({}, tmp_path / "checkpoint-6" / "optimizer.pt")
    assert last_checkpoint(tmp_path) == tmp_path / "checkpoint-6"
